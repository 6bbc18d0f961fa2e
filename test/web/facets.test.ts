import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { linkTo, numbersIn, openPage, problemsOf, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

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

  test("list all with their numbers, the most common first", async () => {
    const { status, html } = await open("/languages");
    assert.equal(status, 200);
    assert.deepEqual(rowsOf(html, "facets"), [
      ["1", "C++", "", "2", "1,160", "+110"],
      ["2", "Go", "", "1", "300", "+290"],
      ["3", "HTML", "", "1", "5,001", "+1"],
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
    assert.deepEqual(namesIn(await follow("Stars"), "facets", 1), ["HTML", "C++", "Go"]);
    const gained = await follow("Stars gained");
    assert.deepEqual(namesIn(gained, "facets", 1), ["Go", "C++", "HTML"]);
    assert.equal(linkTo(gained, "7d")?.search, "?sort=stars-gained&window=7d");
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
    assert.deepEqual([...facts.values()], ["2", "1,160", "+110", "0", "0"]);
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
