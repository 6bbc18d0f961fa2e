import assert from "node:assert/strict";
import { before, test } from "node:test";
import { formatCount } from "../../src/web/components/numbers.js";
import { onSqlite } from "../support/engines.js";
import { linkTo, numbersIn, openPage, problemsOf, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onSqlite("The pages of languages and topics", (engine) => {
  let world: World;
  const open = (path: string) => openPage(world, path);
  const namesIn = (html: string, table: string, cell: number) =>
    rowsOf(html, table).map((row) => row[cell]?.split(" ")[0]);

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/kite", daily(1000, 1100), { facts: { language: "C++", topics: ["air", "a/b"] } }),
      observation("acme/wing", daily(50, 60), { facts: { language: "C++", topics: ["air", "wood"] } }),
      observation("acme/page", daily(5000, 5001), { facts: { language: "HTML", topics: ["<i>bold</i>"] } }),
      observation("lab/one", daily(10, 300), {
        provider: "GITLAB",
        facts: { language: "Go", topics: ["air"] },
      }),
      ...Array.from({ length: 55 }, (_, i) =>
        observation(`many/part-${i}`, daily(5, 5), { facts: { topics: [`t-${i + 10}`] } }),
      ),
    );
  });

  test("list all with their numbers, the greatest gain first", async () => {
    const { status, html } = await open("/languages");
    assert.equal(status, 200);
    assert.deepEqual(rowsOf(html, "facets"), [
      ["1", "Go", "1", "300", "+290"],
      ["2", "C++", "2", "1.2K", "+110"],
      ["3", "HTML", "1", "5K", "+1"],
    ]);
    assert.equal(linkTo(html, "C++")?.pathname, "/languages/C%2B%2B");
    const [, lead = ""] = /<p class="lead">(.*?)<\/p>/s.exec(html) ?? [];
    assert.deepEqual(numbersIn(textOf(lead)).slice(0, 2), ["3", "59"]);
  });

  test("have links that sort, filter by forge and change the window", async () => {
    const { html } = await open("/languages");
    const follow = async (text: string, page = html) => {
      const url = linkTo(page, text);
      assert.ok(url, text);
      return (await open(`${url.pathname}${url.search}`)).html;
    };
    assert.equal(linkTo(html, "Gained in 24h"), undefined, "the list is sorted so");
    const stars = await follow("Stars");
    assert.deepEqual(namesIn(stars, "facets", 1), ["HTML", "C++", "Go"]);
    assert.match(stars, /<th scope="col" class="number" aria-sort="descending">Stars/);
    assert.deepEqual(namesIn(await follow("Gained in 24h", stars), "facets", 1), ["Go", "C++", "HTML"]);
    const common = await follow("Repos");
    assert.deepEqual(namesIn(common, "facets", 1), ["C++", "Go", "HTML"]);
    assert.equal(linkTo(common, "7d")?.search, "?sort=repository-count&window=7d");
    assert.deepEqual(namesIn(await follow("GitLab"), "facets", 1), ["Go"]);
    const none = await open("/languages?provider=codeberg");
    assert.deepEqual(rowsOf(none.html, "facets"), []);
    assert.equal(linkTo(none.html, "Show all forges")?.search, "");
  });

  test("have pages, and reject invalid parameters", async () => {
    const { html } = await open("/topics");
    assert.equal(rowsOf(html, "facets").length, 50);
    const second = await open("/topics?page=2");
    assert.equal(rowsOf(second.html, "facets")[0]?.[0], "51");
    assert.equal(linkTo(second.html, "← Previous")?.search, "");
    assert.equal(linkTo(second.html, "Next →"), undefined);
    for (const query of ["sort=name", "window=1y", "page=201", "provider=a%20b"]) {
      const wrong = await open(`/topics?${query}`);
      assert.deepEqual([wrong.status, problemsOf(wrong)], [400, [query.split("=")[0]]], query);
    }
    assert.equal((await open("/topics?sort=&window=")).status, 200);
  });

  test("a facet has its numbers and rankings, whatever the case of its name", async () => {
    const { status, html, facts } = await open("/languages/c++");
    assert.equal(status, 200);
    assert.match(html, /rel="canonical" href="https:\/\/sidereal.example\/languages\/C%2B%2B"/);
    assert.deepEqual([...facts.values()], ["2", "1,160", "+110", "– 0 of 2", "– 0 of 2"]);
    assert.deepEqual(namesIn(html, "list", 1).toSorted(), ["acme/kite", "acme/wing"]);
    const largest = linkTo(html, "Stars");
    assert.deepEqual(namesIn((await open(`${largest?.pathname}${largest?.search}`)).html, "list", 1), [
      "acme/kite",
      "acme/wing",
    ]);
    assert.match(html, /href="\/api\/feeds\/trending\.atom\?language=C%2B%2B&amp;window=24h"/);
    assert.equal(linkTo(html, "air")?.search, "?language=C%2B%2B&topic=air");
    assert.equal(linkTo(html, "Filter this list")?.searchParams.get("language"), "C++");
  });

  test("a facet shows which repositories its gain comes from", async () => {
    const { html } = await open("/languages/C%2B%2B");
    const bars = [...html.matchAll(/<ol class="bars">(.*?)<\/ol>/gs)].map(([, list = ""]) => textOf(list));
    assert.deepEqual(bars, ["acme/kite+100 · 91% acme/wing+10 · 9%"]);
    const week = await open("/languages/C%2B%2B?window=7d");
    assert.doesNotMatch(week.html, /facet-gains/, "nothing is known to have grown in a week");
  });

  test("a facet shows the stars of its repositories over time", async () => {
    const { text } = await open("/languages/C%2B%2B");
    assert.match(text, /1,160 stars, \+110 since/);
    assert.match((await open("/languages/C%2B%2B?view=per-day&range=30d")).text, /Stars per day/);
    assert.deepEqual(problemsOf(await open("/languages/C%2B%2B?view=sideways")), ["view"]);
  });

  test("the chart of a facet reads at most its 50 largest repositories", async () => {
    const own = await createWorld(engine);
    await own.record(
      ...Array.from({ length: 60 }, (_, i) =>
        observation(`many/r${i}`, daily(100 + i, 101 + i), { facts: { language: "Ada" } }),
      ),
    );
    const { text, html } = await openPage(own, "/languages/Ada");
    assert.match(text, /Total stars, 50 largest repositories.* since 29 Apr 2026 50 repositories/);
    const numbers = rowsOf(html.slice(html.indexOf('class="numbers"')));
    assert.deepEqual(numbers[0]?.slice(1), [formatCount(50 * 101 + (10 + 59) * 25)]);
  });

  test("a sum names its coverage, and neither one repository nor few of them lead by gain", async () => {
    const own = await createWorld(engine);
    const some = (topic: string, gains: readonly (number | null)[]) =>
      gains.map((gain, i) =>
        observation(`${topic}/r${i}`, gain === null ? daily(100) : daily(100, 100 + gain), {
          facts: { topics: [topic] },
        }),
      );
    await own.record(
      ...some("one-jump", [900, 1, 1, 1, 1]),
      ...some("steady", [20, 20, 20, 20, 20, null]),
      ...some("two", [500, 500]),
      ...some("thin", [...Array.from({ length: 5 }, () => 200), ...Array.from({ length: 16 }, () => null)]),
      ...some("unknown", [50, ...Array.from({ length: 5 }, () => null)]),
    );
    const { html, text } = await openPage(own, "/topics");
    assert.deepEqual(
      rowsOf(html, "facets").map((row) => [row[1], row[4]]),
      [
        ["steady", "+100 5 of 6"],
        ["one-jump mostly one repository", "+904"],
        ["thin", "– 5 of 21"],
        ["two", "+1,000"],
        ["unknown", "– 1 of 6"],
      ],
    );
    assert.match(text, /Those with fewer than 5 measured repositories come last\./);
  });

  test("repositories that were not read for 30 days do not hide what the others gain", async () => {
    const own = await createWorld(engine);
    const old = (i: number) =>
      observation(`old/r${i}`, [snapshot(31 * 24, 5)], { facts: { language: "Ada" } });
    await own.record(
      ...Array.from({ length: 2 }, (_, i) =>
        observation(`new/r${i}`, daily(100, 101), { facts: { language: "Ada" } }),
      ),
      ...Array.from({ length: 9 }, (_, i) => old(i)),
    );
    assert.equal(rowsOf((await openPage(own, "/languages")).html, "facets")[0]?.[4], "+2 2 of 11");
    assert.match(
      (await openPage(own, "/languages/Ada")).text,
      /202 stars, \+2 since 29 Apr 2026 2 of 11 repo/,
    );
  });

  test("a facet has its related topics and languages before the list", async () => {
    const { html } = await open("/topics/air");
    const [topics, languages] = [...html.matchAll(/<ul class="tags" aria-label="([^"]*)">(.*?)<\/ul>/gs)];
    assert.deepEqual(
      [
        topics?.[1],
        textOf(topics?.[2] ?? "")
          .split(" ")
          .toSorted(),
      ],
      ["Related topics", ["a/b", "wood"]],
    );
    assert.deepEqual([languages?.[1], textOf(languages?.[2] ?? "")], ["Languages", "C++ Go"]);
    assert.ok((topics?.index ?? 0) < html.indexOf("<table"));
    assert.equal(linkTo(html, "Go")?.search, "?language=Go&topic=air");
  });

  test("topics are in the navigation only if some are known, and their page has no controls without", async () => {
    const navigation = (html: string) => textOf(/<nav aria-label="Main">(.*?)<\/nav>/s.exec(html)?.[1] ?? "");
    assert.match(navigation((await open("/")).html), /Topics/);
    const without = await createWorld(engine);
    await without.record(observation("acme/kite", daily(1000, 1100), { facts: { language: "C" } }));
    const { html, text } = await openPage(without, "/topics");
    assert.doesNotMatch(navigation(html), /Topics/);
    assert.doesNotMatch(html, /aria-label="Window"|aria-label="Forge"|<table/);
    assert.match(text, /No topics in 1 repository/);
  });

  test("names may contain slashes and markup", async () => {
    const slash = await open("/topics/a%2Fb");
    assert.equal(slash.status, 200);
    assert.deepEqual(namesIn(slash.html, "list", 1), ["acme/kite"]);
    const markup = await open("/topics/%3Ci%3Ebold%3C%2Fi%3E?sort=stars");
    assert.equal(markup.status, 200);
    assert.doesNotMatch(markup.html, /<i>bold/);
  });

  test("an unknown name is a 404 with suggestions; invalid parameters keep the page", async () => {
    const missing = await open("/languages/htm");
    assert.equal(missing.status, 404);
    assert.equal(linkTo(missing.html, "HTML")?.pathname, "/languages/HTML");
    const wrong = await open("/topics/air?sort=relevance&page=0");
    assert.deepEqual([wrong.status, problemsOf(wrong)], [400, ["sort", "page"]]);
    const empty = await open("/topics/t-20");
    assert.deepEqual(rowsOf(empty.html, "list"), []);
    assert.equal(linkTo(empty.html, "Sort by stars")?.search, "?sort=stars");
    const beyond = await open("/topics/air?page=40");
    assert.equal(linkTo(beyond.html, "Back to the first page")?.search, "");
  });
});
