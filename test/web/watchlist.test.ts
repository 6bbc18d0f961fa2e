import assert from "node:assert/strict";
import { before, test } from "node:test";
import { VISIT_MS } from "../../src/watchlists/changes.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import {
  followLink,
  linkTo,
  numbersIn,
  open,
  problemsOf,
  repositoriesIn,
  rowsOf,
  sectionOf,
  submit,
  textOf,
} from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

/** The form that offers to save the second repository. */
const OFFERED = /<input type="hidden" name="repositoryId" value="2"\/>/;
/** Full names of repositories in texts. */
const namesIn = (texts: readonly string[]) => texts.join(" ").match(/\w+\/\w+/g);

const PENDING = "__Host-sidereal.saving";

onSqlite("The page of a personal watchlist", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `list-${++people}@example.org`;
  const somebody = (): Promise<Member> => signIn(world, mailbox, newAddress());
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation("one/one", daily(100, 110, 125), { facts: { description: "<i>first</i>", stars: 125 } }),
      observation("two/two", daily(50, 60, 90), { facts: { stars: 90 } }),
      observation("three/three", daily(5, 6, 7), { facts: { stars: 7 } }),
      ...Array.from({ length: 60 }, (_, i) => observation(`many/r${i}`, daily(1, 2))),
    );
  });
  const save = (id: number | string, headers: Record<string, string>, next = "/") =>
    submit(world, "/watchlist/items", { repositoryId: String(id), next }, headers);

  test("explains itself to visitors", async () => {
    const page = await open(world, "/watchlist");
    assert.equal(page.status, 200);
    assert.match(page.html, /href="\/sign-in\?next=%2Fwatchlist"/);
    assert.match(page.html, /href="\/watchlists"/);
    const offer = await open(world, "/watchlist?save=2");
    assert.ok(offer.text.includes("two/two"));
    assert.match(offer.html, /href="\/sign-in\?next=%2Fwatchlist%3Fsave%3D2"/);
    assert.match(offer.html, /<link rel="canonical" href="https:\/\/sidereal\.example\/watchlist"/);
    for (const wrong of ["x", "0", "999999", "-1", "2 or 1=1"])
      assert.ok(
        (await open(world, `/watchlist?save=${encodeURIComponent(wrong)}`)).links.includes(
          "/sign-in?next=%2Fwatchlist",
        ),
        wrong,
      );
  });

  test("lists saved repositories with their growth, sorts and removes them", async () => {
    const { headers } = await somebody();
    assert.match((await open(world, "/watchlist", headers)).text, /Your watchlist is empty/);
    for (const id of [3, 1, 2]) {
      const saved = await save(id, headers, "/explore?page=2");
      assert.deepEqual([saved.status, saved.location], [303, "/explore?page=2"]);
    }
    const page = await open(world, "/watchlist?window=24h", headers);
    assert.deepEqual(
      [page.status, page.headers.get("cache-control"), page.headers.get("x-robots-tag")],
      [200, "no-store", "noindex"],
    );
    assert.deepEqual(repositoriesIn(page.html), ["three/three", "one/one", "two/two"]);
    assert.match(page.text, /\+15/);
    assert.match(page.html, /&lt;i>first/);
    assert.equal(linkTo(page.html, "Watchlist (3)")?.pathname, "/watchlist");
    assert.match(page.text, / 222 stars, \+67 since 28 Apr 2026 3 repositories/);
    assert.match(page.html, /<script type="application\/json" data-label="Total stars">/);
    const data = JSON.parse(
      page.html.match(/<script type="application\/json"[^>]*>(.*?)<\/script>/)?.[1] ?? "",
    );
    assert.deepEqual([data.isSum, data.lines[0].value], [true, [155, 176, 222]]);
    assert.match(page.html, /\/chart\.js"/);
    assert.deepEqual(rowsOf(page.html.slice(page.html.indexOf('class="numbers"'))), [
      ["30 Apr 2026", "222"],
      ["29 Apr 2026", "176"],
      ["28 Apr 2026", "155"],
    ]);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist?sort=stars", headers)).html), [
      "one/one",
      "two/two",
      "three/three",
    ]);
    const gained = await open(world, "/watchlist?sort=stars-gained&window=24h", headers);
    assert.deepEqual(repositoriesIn(gained.html), ["two/two", "one/one", "three/three"]);
    assert.ok(gained.current.includes("Stars gained"));
    assert.match(page.html, /aria-label="Remove one\/one"/);
    const removed = await submit(
      world,
      "/watchlist/items/remove",
      { repositoryId: "1", next: "/watchlist?sort=stars" },
      headers,
    );
    assert.deepEqual([removed.status, removed.location], [303, "/watchlist?sort=stars"]);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", headers)).html), [
      "three/three",
      "two/two",
    ]);
  });

  test("adds a repository by its name, and offers what a misspelt one may mean", async () => {
    const { headers } = await somebody();
    const add = (repository: string, more: Record<string, string> = {}) =>
      submit(world, "/watchlist/items", { repository, next: "/watchlist?window=7d", ...more }, headers);
    const added = await add("https://github.com/two/two");
    assert.deepEqual([added.status, added.location], [303, "/watchlist?window=7d"]);
    const unknown = await add("tw");
    assert.equal(unknown.status, 400);
    assert.deepEqual(unknown.alerts, ["This is not tracked here."]);
    assert.match(unknown.html, /<button type="submit" name="repository" value="github:two\/two">two\/two</);
    assert.match(unknown.html, /name="repository"[^>]*value="tw"/);
    assert.deepEqual(repositoriesIn(unknown.html), ["two/two"], "the list is still shown");
    assert.equal((await add("")).status, 400);
    assert.equal((await add("x".repeat(5_000))).status, 400);
    assert.equal((await add("github:two/two")).status, 303);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", headers)).html), ["two/two"]);
    const visitor = await submit(world, "/watchlist/items", { repository: "one/one", next: "/watchlist" });
    assert.equal(visitor.location, "/sign-in?next=%2Fwatchlist%3Fsave%3D1");
    const astray = await submit(world, "/watchlist/items", { repository: "no/body" });
    assert.equal(astray.location, "/sign-in?next=%2Fwatchlist");
  });

  test("says each one's share of the gain, and leads to a comparison of the first six", async () => {
    const { headers } = await somebody();
    const empty = await open(world, "/watchlist", headers);
    assert.match(empty.html, /action="\/watchlist\/items"/, "it can be added to");
    for (const id of [1, 2, 3]) await save(id, headers);
    const page = await open(world, "/watchlist?window=24h", headers);
    // Gains of 15, 30 and 1.
    assert.deepEqual(
      rowsOf(page.html, "list").map((cells) => cells.find((cell) => /%$/.test(cell))),
      ["33%", "65%", "2%"],
    );
    const compare = linkTo(page.html, "Compare these");
    assert.deepEqual(compare?.searchParams.getAll("repo"), [
      "github:one/one",
      "github:two/two",
      "github:three/three",
    ]);
    assert.ok(page.links.includes("/compare?repo=github:two/two"), "a row leads to its own comparison");
    const ids = Array.from({ length: 10 }, (_, i) => String(i + 4));
    await world.send("POST", "/api/me/watchlist", { ids }, headers);
    const longer = await open(world, "/watchlist", headers);
    assert.equal(linkTo(longer.html, "Compare the first 6")?.searchParams.getAll("repo").length, 6);
  });

  test("an empty list offers what is trending, to begin with", async () => {
    const { headers } = await somebody();
    const page = await open(world, "/watchlist", headers);
    assert.match(page.html, /aria-label="Save (?:one|two)\/(?:one|two)"/);
    const saved = await submit(world, "/watchlist/items", { repositoryId: "2", next: "/watchlist" }, headers);
    assert.deepEqual([saved.status, saved.location], [303, "/watchlist"]);
  });

  test("invalid parameters are reported and ignored", async () => {
    const { headers } = await somebody();
    await save(1, headers);
    const page = await open(world, "/watchlist?window=9d&sort=size&page=0", headers);
    assert.deepEqual([page.status, problemsOf(page).toSorted()], [400, ["page", "sort", "window"]]);
    assert.deepEqual(repositoriesIn(page.html), ["one/one"]);
  });

  test("a long list has pages that keep its other parameters", async () => {
    const { headers } = await somebody();
    const ids = Array.from({ length: 60 }, (_, i) => String(i + 4));
    assert.equal((await world.send("POST", "/api/me/watchlist", { ids }, headers)).status, 201);
    const first = await open(world, "/watchlist?window=7d", headers);
    assert.equal(repositoriesIn(first.html).length, 50);
    assert.equal(linkTo(first.html, "Next →")?.search, "?window=7d&page=2");
    const second = await open(world, "/watchlist?window=7d&page=2", headers);
    assert.equal(repositoriesIn(second.html).length, 10);
    assert.equal(linkTo(second.html, "← Previous")?.search, "?window=7d");
    const beyond = await open(world, "/watchlist?window=7d&page=9", headers);
    assert.equal(linkTo(beyond.html, "Back to the first page")?.search, "?window=7d");
  });

  test("repositories selected before sign-in are saved after it, once", async () => {
    const first = await save(1, {}, "/explore");
    assert.deepEqual([first.status, first.location], [303, "/sign-in?next=%2Fexplore%3Fsave%3D1"]);
    assert.match(
      first.headers.getSetCookie()[0] ?? "",
      /^__Host-sidereal\.saving=1; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const second = await save(2, { Cookie: first.cookies.join("; ") });
    assert.deepEqual(second.cookies, [`${PENDING}=1.2`]);
    const starred = { Cookie: `${PENDING}=1.2` };
    const offer = await open(world, "/sign-in?next=%2Fexplore", starred);
    assert.equal(linkTo(offer.html, "create a shared list of one/one, two/two")?.pathname, "/watchlists");
    const list = await open(world, "/watchlists", starred);
    assert.match(list.html, /github:one\/one\ngithub:two\/two<\/textarea>/);
    const sent = await submit(
      world,
      "/sign-in",
      { email: newAddress(), next: "/watchlist?save=2" },
      { Cookie: `${PENDING}=1.2` },
    );
    const signedIn = await followLink(world, mailbox, [`${PENDING}=1.2`, ...sent.cookies].join("; "));
    const session = signedIn.cookies.join("; ");
    const page = await open(world, signedIn.location ?? "", { Cookie: `${session}; ${PENDING}=1.2` });
    assert.deepEqual(namesIn(page.notices), ["one/one", "two/two"]);
    assert.deepEqual(repositoriesIn(page.html), ["one/one", "two/two"]);
    assert.deepEqual(page.headers.getSetCookie(), [
      `${PENDING}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure`,
    ]);
    // Again, as with the back button: nothing is doubled.
    const again = await open(world, "/docs", { Cookie: `${session}; ${PENDING}=1.2` });
    assert.deepEqual(namesIn(again.notices), ["one/one", "two/two"]);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", { Cookie: session })).html), [
      "one/one",
      "two/two",
    ]);
  });

  test("sign-in names what it saves, on every page until it is done", async () => {
    const sent = await save(2, {}, "/explore?page=2");
    const page = await open(world, sent.location ?? "");
    assert.deepEqual(page.headings[0], [1, "Sign in to save two/two"]);
    assert.match(page.html, /<title>Sign in to save two\/two ·/);
    const wrong = await submit(world, "/sign-in", {
      email: "nobody",
      next: new URL(sent.location ?? "", "http://x").searchParams.get("next") ?? "",
    });
    assert.deepEqual([wrong.status, wrong.headings[0]], [400, [1, "Sign in to save two/two"]]);
    const cookie = sent.cookies.map((one) => one.split(";")[0]).join("; ");
    assert.match((await open(world, "/sign-in/sent", { Cookie: cookie })).text, /we save two\/two/);
    assert.doesNotMatch((await open(world, "/sign-in/sent")).text, /we save/);
    assert.deepEqual((await open(world, "/sign-in?next=%2F%3Fsave%3D999999")).headings[0], [1, "Sign in"]);
  });

  test("a prefetched page saves nothing, and leaves the save and its notice to the next page", async () => {
    const { cookie } = await somebody();
    const headers = { Cookie: `${cookie}; ${PENDING}=1` };
    for (const [name, value] of [
      ["Sec-Purpose", "prefetch"],
      ["Sec-Purpose", "prefetch;prerender"],
      ["Purpose", "prefetch"],
      ["X-Moz", "prefetch"],
    ] as const) {
      const fetched = await open(world, "/docs", { ...headers, [name]: value });
      assert.deepEqual([fetched.status, fetched.cookies], [200, []], `${name}: ${value}`);
      assert.deepEqual(fetched.notices, []);
      assert.match((await open(world, "/watchlist", { Cookie: cookie })).text, /Your watchlist is empty/);
    }
    const opened = await open(world, "/docs", headers);
    assert.deepEqual(namesIn(opened.notices), ["one/one"]);
    assert.equal(opened.cookies.length, 1);
  });

  test("in another browser the page after sign-in offers to save it", async () => {
    const { headers } = await somebody();
    const page = await open(world, "/explore?q=x&save=2", headers);
    assert.match(page.html, /<input type="hidden" name="next" value="\/explore\?q=x"\/>/);
    assert.ok(page.text.includes("two/two"));
    assert.match(page.html, OFFERED);
    assert.equal((await save(2, headers, "/watchlist")).location, "/watchlist");
    const saved = await open(world, "/explore?q=x&save=2", headers);
    assert.doesNotMatch(saved.html, OFFERED);
  });

  test("an invalid cookie is ignored and blocks no page", async () => {
    const { cookie } = await somebody();
    for (const value of ["", "x", "0", "999999", "1;2", "-5", "1e3"]) {
      const page = await open(world, "/docs", { Cookie: `${cookie}; ${PENDING}=${value}` });
      assert.equal(page.status, 200, value);
      assert.match(page.headers.getSetCookie()[0] ?? "", /Max-Age=0/, value);
    }
    assert.equal((await open(world, "/docs", { Cookie: `${PENDING}=1` })).headers.get("set-cookie"), null);
    const twenty = Array.from({ length: 40 }, (_, i) => i + 1).join(".");
    const kept = await save(60, { Cookie: `${PENDING}=${twenty}` });
    assert.equal(
      kept.cookies[0],
      `${PENDING}=${[...Array.from({ length: 19 }, (_, i) => i + 22), 60].join(".")}`,
    );
  });

  test("a full watchlist is reported, and pages still work", async () => {
    const own = await createWorld(engine, mailbox.settings);
    await own.record(...Array.from({ length: 501 }, (_, i) => observation(`full/r${i}`, daily(1, 2))));
    const { headers, cookie } = await signIn(own, mailbox, newAddress());
    const ids = Array.from({ length: 500 }, (_, i) => String(i + 1));
    assert.equal((await own.send("POST", "/api/me/watchlist", { ids }, headers)).status, 201);
    const page = await open(own, "/docs", { Cookie: `${cookie}; ${PENDING}=501` });
    assert.equal(page.status, 200);
    const [notice = ""] = page.notices;
    assert.deepEqual(namesIn([notice]), ["full/r500"]);
    assert.ok(numbersIn(notice).includes("500"));
    const refused = await submit(own, "/watchlist/items", { repositoryId: "501" }, headers);
    assert.equal(refused.status, 409);
    assert.ok(numbersIn(refused.text).includes("500"));
  });

  test("only existing repositories can be saved", async () => {
    const { headers } = await somebody();
    assert.equal((await save("x", headers)).status, 400);
    assert.equal((await save(999_999, headers)).status, 404);
    assert.equal((await save(999_999, {})).status, 404);
    assert.equal((await save(1, headers, "https://evil.example")).location, "/watchlist");
    const page = await world.request("/watchlist/items", { headers: { Accept: "text/html" } });
    assert.deepEqual([page.status, page.headers.get("allow")], [405, "OPTIONS, POST"]);
  });

  test("shows the changes since the last visit", async () => {
    const own = await createWorld(engine, mailbox.settings);
    await own.record(observation("one/one", daily(100, 110), { facts: { stars: 110 }, providerId: "1" }));
    const { headers } = await signIn(own, mailbox, newAddress());
    await submit(own, "/watchlist/items", { repositoryId: "1" }, headers);
    const { watchlists } = own.modules;
    const since = async () => sectionOf(await open(own, "/watchlist", headers), "since");
    assert.equal(await since(), undefined);
    await watchlists.flush();
    own.clock.advance(VISIT_MS);
    assert.match(textOf((await since()) ?? ""), /less than an hour ago: no changes/);
    await watchlists.flush();
    own.clock.advance(4 * 3_600_000);
    const at = NOW + 2 * 3_600_000;
    await own.record(
      observation("one/uno", [snapshot(-2, 150)], {
        at,
        facts: { stars: 150, archived: true },
        providerId: "1",
      }),
    );
    // A page that is fetched beforehand is no visit.
    const fetched = await open(own, "/watchlist", { ...headers, "Sec-Purpose": "prefetch" });
    assert.equal(sectionOf(fetched, "since"), undefined);
    const changes = (await since()) ?? "";
    assert.deepEqual(numbersIn(textOf(changes)), ["4", "+40", "1", "1", "+40"]);
    const lines = [...changes.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = ""]) => textOf(line));
    assert.deepEqual(
      lines.map((line) => namesIn([line])),
      [["one/uno"], ["one/uno", "one/one"], ["one/uno"]],
    );
    assert.match(lines[0] ?? "", /\+40/);
  });

  test("stars in lists show what is saved, and lead visitors to sign-in", async () => {
    const { headers } = await somebody();
    await save(1, headers);
    const csv = /href="(\/api\/me\/watchlist\?[^"]*format=csv)"/.exec(
      (await open(world, "/watchlist?window=7d&sort=stars", headers)).html,
    );
    const table = await world.request((csv?.[1] ?? "").replaceAll("&amp;", "&"), { headers });
    assert.equal(table.status, 200);
    assert.match(table.headers.get("content-type") ?? "", /^text\/csv/);
    const page = await open(world, "/explore", headers);
    assert.match(
      page.html,
      /items\/remove" data-save="1" data-name="one\/one" aria-label="Remove one\/one from/,
    );
    assert.match(page.html, /items" data-save="2" data-name="two\/two" aria-label="Save two\/two"/);
    const form = /<button[^>]*form="([^"]*)"[^>]*data-save="2"/.exec(page.html)?.[1];
    assert.ok(page.html.includes(`<form method="post" action="/watchlist/items" id="${form}">`));
    assert.doesNotMatch((await open(world, "/explore")).html, /class="star saved"/);
  });
});
