import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { fieldOf, linkTo, numbersIn, openPage, problemsOf, rowsOf, submit, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const DAY = 86_400_000;

onSqlite("The page /explore", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  const open = (path: string) => openPage(world, path);
  /** Names in the list, in their order. */
  const namesIn = (html: string) => rowsOf(html, "list").map((row) => row[1]?.split(" ")[0]);

  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation("acme/kite", daily(1000, 1100), {
        facts: {
          language: "Rust",
          topics: ["cli", "air"],
          license: "MIT",
          description: "Flies <b>high</b> & far",
          createdAt: NOW - 30 * DAY,
          pushedAt: NOW - DAY,
        },
      }),
      observation("acme/stone", daily(5000, 5010), { facts: { language: "C", topics: ["cli"] } }),
      observation("acme/old", daily(300, 320), { facts: { language: "Rust", archived: true } }),
      observation("lab/sub/pebble", daily(10, 40), { provider: "GITLAB", facts: { language: "Rust" } }),
      ...Array.from({ length: 60 }, (_, i) =>
        observation(`many/part-${i}`, daily(100 + i, 101 + i), { facts: { language: "Zig" } }),
      ),
    );
  });

  test("replaces what a page may not contain, and nothing else", async () => {
    const replaced = [1, 0x0b, 0x7f, 0x85, 0x9f, 0xfdd0, 0xfdef, 0xfffe, 0xffff, 0x1fffe, 0x8ffff, 0x10ffff];
    const kept = [0xa0, 0xd7ff, 0xfdcf, 0xfdf0, 0xfffd, 0x1f600, 0x1fffd, 0x20000, 0x10fffd];
    for (const code of [...replaced, ...kept]) {
      const character = String.fromCodePoint(code);
      const { html } = await open(`/explore?q=${encodeURIComponent(`😀${character}x`)}`);
      const expected = replaced.includes(code) ? "\uFFFD" : character;
      assert.ok(html.includes(`value="😀${expected}x"`), code.toString(16));
    }
  });

  test("lists trending repositories with ranks, gains and their date", async () => {
    const { status, headers, html } = await open("/explore");
    assert.equal(status, 200);
    assert.match(headers.get("cache-control") ?? "", /^public/);
    const [, count = ""] = /<h2 id="found"[^>]*>(.*?)<\/h2>/.exec(html) ?? [];
    assert.deepEqual(numbersIn(textOf(count)), ["63", "24", "64"]);
    const rows = rowsOf(html, "list");
    assert.equal(rows.length, 25);
    assert.deepEqual(
      rows.map((row) => row[0]),
      Array.from({ length: 25 }, (_, i) => String(i + 1)),
    );
    const kite = rows.find((row) => row[1]?.startsWith("acme/kite")) ?? [];
    assert.equal(kite[4], "+100 1,100");
    assert.ok(!namesIn(html).includes("acme/old"), "archived ones are left out of growth");
  });

  test("the plain difference is offered next to the gain that counts, and nowhere else", async () => {
    const offered = async (sort: string) =>
      linkTo((await open(`/explore?sort=${sort}`)).html, "Stars gained, raw")?.search;
    assert.deepEqual(
      [await offered("stars"), await offered("stars-gained")],
      [undefined, "?sort=stars-delta"],
    );
  });

  test("each row has a star that saves it and returns to the list", async () => {
    const { html } = await open("/explore?language=Rust&sort=stars&x=1");
    assert.equal(html.match(/data-save="/g)?.length, 3);
    assert.match(html, /aria-label="Save acme\/kite"/);
    assert.match(html, /name="next" value="\/explore\?language=Rust&amp;sort=stars"/);
    assert.doesNotMatch(html, /save\.js/, "who is not signed in is led there by the form");
    const ids = /data-save="(\d+)" data-name="acme\/kite"/.exec(html);
    const pressed = await submit(world, "/watchlist/items", {
      repositoryId: ids?.[1] ?? "",
      next: "/explore?language=Rust&sort=stars",
    });
    assert.equal(pressed.status, 303);
    const next = new URL(pressed.location ?? "", "http://localhost").searchParams.get("next");
    assert.equal(next, `/explore?language=Rust&sort=stars&save=${ids?.[1]}`);
    const { headers } = await signIn(world, mailbox, "stars@example.org");
    assert.equal(
      (await submit(world, "/watchlist/items", { repositoryId: ids?.[1] ?? "", next: "/" }, headers)).status,
      303,
    );
    for (const path of ["/explore?language=Rust", "/languages/Rust", "/topics/air"]) {
      const own = await world.request(path, { headers: { Accept: "text/html", ...headers } });
      const text = await own.text();
      assert.match(text, /class="star saved"[^>]*data-name="acme\/kite"/, path);
      assert.match(text, /save\.js/, path);
      assert.ok(text.includes(`name="next" value="${path}"`), path);
      assert.match(own.headers.get("cache-control") ?? "", /^private/);
    }
  });

  test("every filter narrows the list and has a link that removes it", async () => {
    for (const [query, name, chip] of [
      ["q=kite", "acme/kite", "“kite”"],
      ["language=rust&provider=github&archived=false", "acme/kite", "rust"],
      ["topic=air", "acme/kite", "topic air"],
      ["license=MIT", "acme/kite", "license MIT"],
      ["minStars=5000", "acme/stone", "at least 5,000 stars"],
      ["maxStars=50", "lab/sub/pebble", "at most 50 stars"],
      ["createdAfter=2026-01-01", "acme/kite", "created after 2026-01-01"],
      ["createdBefore=2026-04-30", "acme/kite", "created before 2026-04-30"],
      ["pushedAfter=2026-01-01", "acme/kite", "pushed after 2026-01-01"],
      ["provider=gitlab", "lab/sub/pebble", "GitLab"],
      ["archived=true", "acme/old", "only archived"],
    ] as const) {
      const { status, html } = await open(`/explore?window=7d&sort=stars&${query}`);
      assert.deepEqual([status, namesIn(html)], [200, [name]], query);
      const without = linkTo(html, `Remove filter ${chip} ×`);
      const parameter = query.split("=")[0] ?? "";
      assert.ok(without && !without.searchParams.has(parameter), query);
      assert.equal(without.searchParams.get("window"), "7d");
    }
    const page = await open("/explore?reliableOnly=true&excludeAnomalous=true&fork=any&sort=stars");
    const [, summary = ""] = /<summary class="button">(.*?)<\/summary>/.exec(page.html) ?? [];
    assert.deepEqual(numbersIn(summary), ["3"]);
    assert.equal(fieldOf(page, "reliableOnly")?.checked, "");
  });

  test("several languages match any of them; each has its own remove link", async () => {
    const { html } = await open("/explore?language=Rust&language=C&sort=stars");
    assert.deepEqual(namesIn(html), ["acme/stone", "acme/kite", "acme/old", "lab/sub/pebble"]);
    assert.deepEqual(linkTo(html, "Remove filter Rust ×")?.searchParams.getAll("language"), ["C"]);
    assert.match(html, /type="checkbox" name="language" value="Rust" checked/);
  });

  test("empty fields, spaces and duplicates are ignored", async () => {
    const { status, html } = await open(
      "/explore?q=&language=&language=+Rust+&language=Rust&minStars=&createdAfter=&sort=stars&limit=&unknown=1",
    );
    assert.equal(status, 200);
    assert.deepEqual(namesIn(html), ["acme/kite", "acme/old", "lab/sub/pebble"]);
    assert.equal(linkTo(html, "Stars gained")?.search, "?language=Rust&sort=stars-gained");
    assert.match(
      html,
      /rel="canonical" href="https:\/\/sidereal.example\/explore\?language=Rust&amp;sort=stars"/,
    );
  });

  test("pages continue the ranks, keep the parameters, and end", async () => {
    const first = await open("/explore?language=zig&sort=stars");
    const [, place = ""] = /<nav class="pager"[^>]*>(.*?)<\/nav>/s.exec(first.html) ?? [];
    assert.deepEqual(numbersIn(textOf(place)), ["1", "3"]);
    const next = linkTo(first.html, "Next →");
    assert.equal(next?.search, "?language=zig&sort=stars&page=2");
    const second = await open(`${next?.pathname}${next?.search}`);
    assert.equal(rowsOf(second.html, "list")[0]?.[0], "26");
    assert.equal(linkTo(second.html, "← Previous")?.search, "?language=zig&sort=stars");
    const last = await open("/explore?language=zig&sort=stars&page=3");
    assert.equal(rowsOf(last.html, "list").length, 10);
    assert.equal(linkTo(last.html, "Next →"), undefined);
    const beyond = await open("/explore?language=zig&sort=stars&page=9");
    assert.equal(beyond.status, 200);
    assert.equal(linkTo(beyond.html, "Back to the first page")?.search, "?language=zig&sort=stars");
  });

  test("beyond the numbered pages it continues by cursor, without ranks", async () => {
    const answer = await world.get("/api/repos?language=zig&sort=stars&limit=25");
    const { status, html } = await open(
      `/explore?language=zig&sort=stars&cursor=${answer.body.meta.nextCursor}`,
    );
    assert.equal(status, 200);
    assert.equal(rowsOf(html, "list")[0]?.[0]?.startsWith("many/part-34"), true);
    assert.equal(linkTo(html, "First page")?.search, "?language=zig&sort=stars");
    assert.ok(linkTo(html, "Next →")?.searchParams.has("cursor"));
    const wrong = await open("/explore?cursor=nonsense");
    assert.equal(wrong.status, 400);
    assert.deepEqual(problemsOf(wrong), ["cursor"]);
  });

  test("an invalid value is reported next to its field, and the form keeps its values", async () => {
    const page = await open("/explore?minStars=many&sort=best&createdAfter=2026-02-30&language=Rust");
    assert.equal(page.status, 400);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.deepEqual(problemsOf(page).toSorted(), ["createdAfter", "minStars", "sort"]);
    for (const [name, value] of [
      ["minStars", "many"],
      ["createdAfter", "2026-02-30"],
    ] as const) {
      const field = fieldOf(page, name);
      assert.deepEqual([field?.value, field?.["aria-invalid"]], [value, "true"]);
      assert.ok(page.html.includes(`<div class="wrong" id="${field?.["aria-describedby"]}">`), name);
    }
    assert.match(page.html, /value="Rust" checked/);
    assert.match(page.html, /<details class="filters" open/);
    assert.deepEqual(problemsOf(await open("/explore?sort=stars&sort=forks")), ["sort"]);
    const deep = await open("/explore?page=500");
    assert.deepEqual([deep.status, problemsOf(deep)], [400, ["page"]]);
    assert.ok(numbersIn(deep.alerts[0] ?? "").includes("10000"));
    const relevance = await open("/explore?sort=relevance");
    assert.deepEqual([relevance.status, problemsOf(relevance)], [400, ["sort"]]);
    for (const path of ["/explore", "/languages/Rust"]) {
      const month = await open(`${path}?sort=rising&window=30d`);
      assert.deepEqual([month.status, problemsOf(month)], [400, ["window"]], path);
      assert.match(month.alerts[0] ?? "", /24h or 7d/);
      const week = linkTo(month.html, path === "/explore" ? "Rising" : "7 days");
      assert.equal(week?.search, "?sort=rising&window=7d");
      const { status, html } = await open(`${path}${week.search}`);
      assert.deepEqual([status, linkTo(html, "30 days")], [200, undefined]);
    }
  });

  test("an empty list shows the results without each filter", async () => {
    const { status, html } = await open("/explore?language=C&topic=air&sort=stars");
    assert.equal(status, 200);
    assert.deepEqual(rowsOf(html, "list"), []);
    assert.equal(linkTo(html, "C")?.search, "?topic=air&sort=stars");
    assert.equal(linkTo(html, "topic air")?.search, "?language=C&sort=stars");
    const growth = await open("/explore?q=old&sort=trending");
    assert.deepEqual(rowsOf(growth.html, "list"), []);
    for (const search of ["?q=old&sort=trending&window=30d", "?q=old&sort=stars"])
      assert.ok(growth.links.includes(`/explore${search}`), search);
    const words = await open("/explore?q=%3F%21");
    assert.equal(words.status, 200);
    assert.ok(words.text.includes("“?!”"));
  });

  test("links to the list as feed, CSV and JSON", async () => {
    const { html } = await open("/explore?language=Rust&window=7d&sort=new-hot&page=1");
    assert.equal(linkTo(html, "Atom feed")?.pathname, "/api/feeds/new-hot.atom");
    assert.equal(linkTo(html, "Atom feed")?.search, "?language=Rust&window=7d");
    assert.equal(linkTo(html, "CSV")?.search, "?language=Rust&sort=new-hot&window=7d&format=csv&limit=100");
    assert.match(
      html,
      /<link rel="alternate" type="application\/atom\+xml" href="\/api\/feeds\/new-hot\.atom/,
    );
    const json = linkTo(html, "JSON");
    assert.equal((await world.get(`${json?.pathname}${json?.search}`)).status, 200);
    assert.equal(linkTo((await open("/explore?sort=pushed")).html, "Atom feed"), undefined);
  });

  test("a list by date shows dates, one by forks shows forks, and rows show their forge", async () => {
    const pushed = await open("/explore?sort=pushed");
    assert.equal(rowsOf(pushed.html, "list")[0]?.[5], "29 Apr 2026");
    assert.equal(rowsOf(pushed.html, "list")[1]?.[5], "–");
    assert.match(
      (await open("/explore?sort=forks")).html,
      /<th scope="col" class="number of-gain" aria-sort="descending"><a [^>]*>Forks<\/a>/,
    );
    assert.match(rowsOf((await open("/explore?provider=gitlab")).html, "list")[0]?.[1] ?? "", /GitLab/);
  });

  test("text from forges and visitors is escaped", async () => {
    const { html } = await open(`/explore?sort=stars&q=${encodeURIComponent('kite"><script>x</script>')}`);
    assert.doesNotMatch(html, /<script>x/);
    const kite = await open("/explore?topic=air");
    assert.match(kite.html, /Flies &lt;b>high&lt;\/b> &amp; far/);
    const chip = await open("/explore?language=%3Cimg%20src=x%3E");
    assert.doesNotMatch(chip.html, /<img/);
    assert.match(chip.html, /&lt;img src=x>/);
  });

  test("a corrected typing error is named, with an escaped link to the text as it was", async () => {
    const typed = 'paart <img src=x onerror="alert(1)">';
    for (const q of ["paart", typed]) {
      const { html, links } = await open(`/explore?q=${encodeURIComponent(q)}`);
      assert.doesNotMatch(html, /<img src=x/, q);
      if (q === typed) continue;
      assert.match(html, /<strong>part<\/strong>/);
      assert.ok(links.includes("/explore?q=paart&verbatim=true"));
      const verbatim = await open("/explore?q=paart&verbatim=true");
      assert.doesNotMatch(verbatim.html, /<strong>part<\/strong>/);
    }
  });
});
