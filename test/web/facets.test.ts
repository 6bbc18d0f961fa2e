import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { linkTo, openPage, problemsOf, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onSqlite("The pages of languages and topics", (engine) => {
  let world: World;
  const open = (path: string) => openPage(world, path);
  const namesIn = (html: string, table: string, cell: number) =>
    rowsOf(html, table).map((row) => row[cell]?.split(" ")[0]);

  const cardsOf = (html: string) =>
    [...html.matchAll(/<div class="facet-head">(.*?)<\/div>/gs)].map(([, head = ""]) => textOf(head));

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

  test("list all with their numbers in a table, the greatest gain first", async () => {
    const { status, html } = await open("/languages?view=table");
    assert.equal(status, 200);
    assert.deepEqual(rowsOf(html, "facets"), [
      ["1", "Go", "1", "300", "", "+290"],
      ["2", "C++", "2", "1.2K", "", "+110"],
      ["3", "HTML", "1", "5K", "", "+1"],
    ]);
    assert.equal(linkTo(html, "C++")?.pathname, "/languages/C%2B%2B");
    assert.match(textOf(html), /3 languages\. Each bar is a day\./);
  });

  test("have links that sort, change the window, and lead from cards to the table", async () => {
    const { html } = await open("/languages");
    const follow = async (text: string, page = html) => {
      const url = linkTo(page, text);
      assert.ok(url, text);
      return (await open(`${url.pathname}${url.search}`)).html;
    };
    assert.deepEqual(cardsOf(html), ["C++ +110", "HTML +1"], "Go leads");
    assert.deepEqual(cardsOf(await follow("Most stars")), [
      "HTML 5K stars",
      "C++ 1.2K stars",
      "Go 300 stars",
    ]);
    const table = await follow("Table");
    assert.equal(linkTo(table, "Gained in 24h"), undefined, "the list is sorted so");
    const stars = await follow("Stars", table);
    assert.deepEqual(namesIn(stars, "facets", 1), ["HTML", "C++", "Go"]);
    assert.match(stars, /<th scope="col" class="number" aria-sort="descending">Stars/);
    assert.deepEqual(namesIn(await follow("Gained in 24h", stars), "facets", 1), ["Go", "C++", "HTML"]);
    const common = await follow("Repos", table);
    assert.deepEqual(namesIn(common, "facets", 1), ["C++", "Go", "HTML"]);
    assert.equal(linkTo(common, "7 days")?.search, "?sort=repository-count&view=table&window=7d");
    assert.equal(linkTo(common, "Cards")?.search, "?sort=repository-count");
  });

  test("have pages, and reject invalid parameters", async () => {
    const { html } = await open("/topics");
    assert.equal(linkTo(html, "All 59 topics")?.search, "?view=table");
    assert.equal(rowsOf((await open("/topics?view=table")).html, "facets").length, 50);
    const second = await open("/topics?page=2");
    assert.equal(rowsOf(second.html, "facets")[0]?.[0], "51");
    assert.equal(linkTo(second.html, "← Previous")?.search, "");
    assert.equal(linkTo(second.html, "Next →"), undefined);
    for (const query of ["sort=name", "window=1y", "page=201", "view=list"]) {
      const wrong = await open(`/topics?${query}`);
      assert.deepEqual([wrong.status, problemsOf(wrong)], [400, [query.split("=")[0]]], query);
    }
    assert.equal((await open("/topics?sort=&window=")).status, 200);
  });

  test("a facet has its story and its list, whatever the case of its name", async () => {
    const { status, html, text } = await open("/languages/c++?window=24h");
    assert.equal(status, 200);
    assert.match(html, /rel="canonical" href="https:\/\/sidereal.example\/languages\/C%2B%2B\?window=24h"/);
    assert.match(text, /\+110 stars in 24 hours across 2 repositories, 91 % of them for kite \./);
    assert.match(text, /Who made it 24 hours acme\/kite \+100 acme\/wing \+10/);
    assert.deepEqual(namesIn(html, "list", 1), ["acme/kite", "acme/wing"]);
    const trending = await open("/languages/c++?window=24h&sort=trending");
    assert.match(trending.html, /href="\/api\/feeds\/trending\.atom\?language=C%2B%2B&amp;window=24h"/);
    assert.equal(linkTo(html, "air")?.search, "?language=C%2B%2B&topic=air");
    assert.equal(linkTo(html, "Filter this list")?.searchParams.get("language"), "C++");
    assert.match((await open("/languages/C%2B%2B")).text, /\+110 stars in 24 hours/, "no month is known");
    const month = await open("/languages/C%2B%2B?window=30d");
    assert.match(month.text, /1,160 stars across 2 repositories\./);
    assert.deepEqual(rowsOf(month.html, "list"), []);
    assert.equal(linkTo((await open("/topics/air")).html, "wood")?.pathname, "/topics/wood");
  });

  test("a sum names its coverage below a half; small ones come last, and those without a number", async () => {
    const own = await createWorld(engine);
    const some = (topic: string, gains: readonly (number | null)[]) =>
      gains.map((gain, i) =>
        observation(`${topic}/r${i}`, gain === null ? daily(100) : daily(100, 100 + gain), {
          facts: { topics: [topic] },
        }),
      );
    const none = (count: number) => Array.from({ length: count }, () => null);
    await own.record(
      ...some("one-jump", [900, 1, 1, 1, 1]),
      ...some("steady", [20, 20, 20, 20, 20, null]),
      ...some("two", [500, 500]),
      ...some("half", [3, 3, 3, 3, 3, ...none(6)]),
      ...some("thin", [...Array.from({ length: 5 }, () => 200), ...none(16)]),
      ...some("unknown", [50, ...none(5)]),
    );
    // Not read for 30 days, so that it does not count.
    await own.record(observation("old/one", [snapshot(31 * 24, 5)], { facts: { topics: ["two"] } }));
    const { html, text } = await openPage(own, "/topics?view=table");
    assert.deepEqual(
      rowsOf(html, "facets").map((row) => [row[1], row[5]]),
      [
        ["one-jump", "+904"],
        ["steady", "+100"],
        ["half", "+15 of 11, 5 measured"],
        ["two", "+1,000"],
        ["thin", "– of 21, 5 measured"],
        ["unknown", "– of 6, 1 measured"],
      ],
    );
    assert.match(text, /Small ones last\./);
  });

  test("the most unusual one leads, with the days of those that are known over them", async () => {
    const own = await createWorld(engine);
    const some = (topic: string, gains: readonly number[]) =>
      Array.from({ length: 5 }, (_, i) => {
        let stars = 1_000 * i;
        return observation(`${topic}/r${i}`, daily(...gains.map((gain) => (stars += gain))), {
          facts: { topics: [topic] },
        });
      });
    const days = (gain: number, last: number) => Array.from({ length: 41 }, (_, i) => (i < 40 ? gain : last));
    await own.record(...some("calm", days(300, 300)), ...some("hot", days(10, 200)));
    await own.record(
      observation("hot/new", [snapshot(24, 9_000), snapshot(0, 10_000)], { facts: { topics: ["hot"] } }),
    );
    const { text, html } = await openPage(own, "/topics");
    assert.match(text, /Hottest today hot \+2,000 stars today 20× new made 50 % of it/);
    assert.match(html, /1,000 on 30 Apr 2026, the most/);
    assert.deepEqual(cardsOf(html), ["calm +1,500"]);
    const page = await openPage(own, "/topics/hot");
    assert.match(page.text, /Gained since 31 Mar 5 of 6 repositories, known all this time/);
    assert.deepEqual(rowsOf(page.html.slice(page.html.indexOf('class="numbers"')))[0]?.slice(1), ["2,450"]);
  });

  test("topics are in the navigation only if some are known, and their page has no controls without", async () => {
    const navigation = (html: string) => textOf(/<nav aria-label="Main">(.*?)<\/nav>/s.exec(html)?.[1] ?? "");
    assert.match(navigation((await open("/")).html), /Topics/);
    const without = await createWorld(engine);
    await without.record(observation("acme/kite", daily(1000, 1100), { facts: { language: "C" } }));
    const { html, text } = await openPage(without, "/topics");
    assert.doesNotMatch(navigation(html), /Topics/);
    assert.doesNotMatch(html, /aria-label="Window"|aria-label="Forge"|<table/);
    assert.match(text, /No topics\./);
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
    const empty = await open("/topics/t-20?sort=trending");
    assert.deepEqual(rowsOf(empty.html, "list"), []);
    assert.equal(linkTo(empty.html, "Sort by stars")?.search, "?sort=stars");
    const beyond = await open("/topics/air?page=40");
    assert.equal(linkTo(beyond.html, "Back to the first page")?.search, "");
  });
});
