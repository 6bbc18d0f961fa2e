import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { dataOf, fieldOf, numbersIn, open, problemsOf, rowsOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

interface PlotData {
  scale: string;
  align: string;
  lines: { at: number[]; value: number[] }[];
}

const DAY_S = 86_400;

onSqlite("the comparison page", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    const created = { createdAt: NOW - 10 * DAY_S * 1_000, language: "Rust" };
    await world.record(
      observation("acme/kite", daily(90, 100, 110, 130, 160), { facts: created, providerId: "1" }),
      observation("acme/old-name", [], { providerId: "2", at: NOW - 9 * DAY_S * 1_000 }),
      observation("acme/crane", daily(5_000, 5_001, 5_005), { providerId: "2" }),
      observation("same/name", daily(7, 8)),
      observation("same/name", daily(70, 80), { provider: "CODEBERG" }),
      observation("group/sub/tool", daily(1, 3), { provider: "GITLAB" }),
      observation("team/tool", daily(20, 30), {
        provider: "FORGE",
        facts: { url: "https://git.example.org/team/tool" },
      }),
      ...["a", "b", "c"].map((name) => observation(`more/${name}`, daily(1, 2))),
    );
  });

  test("shows repositories on one chart, and their numbers side by side", async () => {
    const page = await open(world, "/compare?repo=github:acme/kite&repo=github:acme/crane&range=30d");
    assert.equal(page.status, 200);
    assert.match(page.html, /<title>Compare acme\/kite, acme\/crane · Sidereal<\/title>/);
    assert.match(page.html, /<title id="whole-title">Stars: acme\/kite, acme\/crane<\/title>/);
    const [kite = [], crane = []] = rowsOf(page.html, "compared");
    assert.deepEqual(kite.slice(2), ["160", "+30", "+70", "–", "–", "–", "#2", "#1", "2026-04-20", "Rust"]);
    assert.deepEqual(crane.slice(2, 4), ["5,005", "+4"]);
    const { lines, scale, align } = dataOf(page) as PlotData;
    assert.deepEqual(
      lines.map(({ value }) => value),
      [
        [90, 100, 110, 130, 160],
        [5_000, 5_001, 5_005],
      ],
    );
    assert.deepEqual([scale, align], ["linear", "date"]);
    assert.deepEqual(rowsOf(page.html.slice(page.html.indexOf('class="numbers"'))).slice(0, 2), [
      ["2026-04-30", "160", "5,005"],
      ["2026-04-29", "130", "5,001"],
    ]);
    assert.ok(page.links.includes("/compare?range=30d&repo=github%3Aacme%2Fcrane"));
    assert.match(page.html, /aria-label="Remove acme\/kite"/);
    assert.match(
      page.html,
      /rel="canonical" href="https:\/\/sidereal\.example\/compare\?repo=github:acme\/kite&amp;repo=github:acme\/crane"/,
    );
  });

  test("aligns by age on a log scale, on the page and in the embed", async () => {
    const page = await open(
      world,
      "/compare?repo=acme/kite&repo=acme/crane&align=age&scale=log&metric=stars&range=all",
    );
    const { lines, scale, align } = dataOf(page) as PlotData;
    assert.deepEqual([scale, align], ["log", "age"]);
    assert.deepEqual(
      lines[0]?.at,
      [6, 7, 8, 9, 10].map((days) => days * DAY_S),
    );
    assert.equal(lines[1]?.at[0], 0);
    assert.match(page.text, /window=all&theme=auto&align=age&scale=log/);
    for (const [, source] of page.html.matchAll(/<img [^>]*src="([^"]+)"/g))
      assert.equal((await world.request((source ?? "").replaceAll("&amp;", "&"))).status, 200);
  });

  test("rows of ages start at 0 in whole days, weeks or months", async () => {
    const own = await createWorld(engine);
    // Created on a Thursday, which is no border of weeks by date.
    const created = { createdAt: NOW - 15 * DAY_S * 1_000 };
    await own.record(
      observation("acme/kite", daily(...Array.from({ length: 15 }, (_, i) => 100 + i)), { facts: created }),
    );
    const rows = async (range: string) => {
      const { html } = await open(own, `/compare?repo=acme/kite&align=age&range=${range}`);
      return [...html.matchAll(/<th scope="row">([^<]*)<\/th><td class="number">/g)].map(([, name]) => name);
    };
    assert.deepEqual(await rows("1y"), ["14 days", "7 days", "0 days"]);
    const days = await rows("30d");
    assert.deepEqual([days.at(-1), days.length], ["1 day", 15]);
    assert.deepEqual(await rows("all"), ["0 months"]);
  });

  test("accepts any name or URL of a repository", async () => {
    for (const [text, expected] of [
      ["acme/kite", "acme/kite"],
      ["  ACME/Kite ", "acme/kite"],
      ["github:acme/old-name", "acme/crane"],
      ["https://github.com/acme/kite", "acme/kite"],
      ["http://www.github.com/acme/kite.git", "acme/kite"],
      ["github.com/acme/kite/tree/main/src?tab=readme#top", "acme/kite"],
      ["git@github.com:acme/kite.git", "acme/kite"],
      ["ssh://git@github.com/acme/kite.git", "acme/kite"],
      ["https://gitlab.com/group/sub/tool/-/issues/3", "group/sub/tool"],
      ["gitlab:group/sub/tool", "group/sub/tool"],
      ["https://git.example.org/team/tool/src/branch/main", "team/tool"],
    ] as const) {
      const page = await open(world, `/compare?${new URLSearchParams({ repo: text })}`);
      assert.equal(page.status, 200, text);
      assert.match(page.html, new RegExp(`<title>Compare ${expected} ·`), text);
    }
    const codeberg = await open(world, "/compare?repo=codeberg:same/name&repo=github:same/name");
    const lines = codeberg.html.matchAll(
      /<span class="plot-name">(.*?)<\/span>\s*<span class="plot-value">(.*?)</g,
    );
    assert.deepEqual(
      [...lines].map(([, name, stars]) => [name, stars]),
      [
        ["codeberg:same/name", "80"],
        ["github:same/name", "8"],
      ],
    );
  });

  test("reports invalid names and shows the rest", async () => {
    const page = await open(
      world,
      `/compare?${new URLSearchParams([
        ["repo", "acme/kite"],
        ["repo", "GITHUB:acme/KITE"],
        ["repo", "<b>bold"],
        ["repo", "no/such"],
        ["repo", "https://elsewhere.example/acme/kite"],
        ["repo", ""],
        ["scale", "cubic"],
      ])}`,
    );
    assert.equal(page.status, 400);
    assert.deepEqual(problemsOf(page), ["repo", "repo", "repo", "repo", "scale"]);
    for (const name of ["acme/kite", "<b>bold", "no/such", "https://elsewhere.example/acme/kite"])
      assert.ok(page.alerts[0]?.includes(name), name);
    assert.ok(!page.html.includes("<b>bold"));
    assert.match(page.html, /<input id="add" name="repo"[^>]*value="&lt;b&gt;bold/);
    assert.equal((dataOf(page) as PlotData).lines.length, 1);
  });

  test("a chart has at most six repositories", async () => {
    const names = ["acme/kite", "acme/crane", "same/name", "more/a", "more/b", "more/c", "team/tool"];
    const query = (count: number) =>
      names
        .slice(0, count)
        .map((name) => `repo=${name}`)
        .join("&");
    const full = await open(world, `/compare?${query(6)}`);
    assert.equal(full.status, 200);
    assert.ok(!full.buttons.includes("Add"));
    assert.doesNotMatch(full.html, /id="add"/);
    const over = await open(world, `/compare?${query(7)}`);
    assert.equal(over.status, 400);
    assert.ok(over.alerts[0]?.includes("team/tool"));
    assert.deepEqual(numbersIn(over.alerts[0] ?? ""), ["6"]);
    assert.equal((dataOf(over) as PlotData).lines.length, 6);
    const flood = await open(
      world,
      `/compare?${Array.from({ length: 300 }, (_, i) => `repo=x/${i}`).join("&")}`,
    );
    assert.equal(flood.status, 400);
    assert.equal(problemsOf(flood).length, 21, "20 unknown names, and that there are more");
  });

  test("starts with a field and example comparisons", async () => {
    const page = await open(world, "/compare");
    assert.equal(page.status, 200);
    assert.equal(fieldOf(page, "repo")?.id, "add");
    const example = page.links.find((link) => link.startsWith("/compare?repo="));
    assert.ok(example !== undefined, "no example");
    const opened = await open(world, example);
    assert.equal(opened.status, 200);
    assert.ok((dataOf(opened) as PlotData).lines.length >= 2);
    const one = await open(world, "/compare?repo=acme/crane&metric=forks");
    assert.ok(one.headings.some(([, name]) => name === "Trending"));
    assert.doesNotMatch(one.html, /class="plot /, "no chart without two counts of forks");
  });

  test("an empty catalogue has the field but no examples", async () => {
    const page = await open(await createWorld(engine), "/compare");
    assert.equal(page.status, 200);
    assert.deepEqual(page.headings, [[1, "Compare repositories"]]);
    assert.ok(page.buttons.includes("Add"));
  });

  test("the form keeps the other parameters", async () => {
    const { html } = await open(world, "/compare?repo=acme/kite&range=all&align=age");
    for (const [name, value] of [
      ["repo", "github:acme/kite"],
      ["range", "all"],
      ["align", "age"],
    ])
      assert.ok(html.includes(`<input type="hidden" name="${name}" value="${value}"/>`), name);
  });
});
