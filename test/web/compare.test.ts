import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { dataOf, fieldOf, geometryOf, linkTo, open, problemsOf, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

interface PlotData {
  align: string;
  lines: { at: number[]; value: number[] }[];
}

const DAY_S = 86_400;

/** What the page says about names that lead nowhere. */
function refusedIn({ html }: { html: string }): string[] {
  const alert = /<div class="note wrong" role="alert">(.*?)<\/div>/s.exec(html)?.[1] ?? "";
  return [...alert.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) => textOf(item).trim());
}

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
    assert.deepEqual(page.headings[0], [1, "crane leads by 4,845, kite gains 18 a day"]);
    const [crane = [], kite = []] = rowsOf(page.html, "list compared");
    assert.deepEqual(crane.slice(1), [
      "5,005",
      "+4",
      "–",
      "–",
      "+5 +0.1% since 28 Apr 2026",
      "–",
      "",
      "leads",
    ]);
    assert.deepEqual(kite.slice(1), ["160", "+30", "+160", "+160", "+160", "18", "", "–"]);
    const { lines, align } = dataOf(page) as PlotData;
    assert.deepEqual(
      lines.map(({ value }) => value),
      [
        [0, 90, 100, 110, 130, 160],
        [5_000, 5_001, 5_005],
      ],
    );
    assert.deepEqual([geometryOf(page).y.kind, align], ["linear", "date"]);
    assert.deepEqual(rowsOf(page.html.slice(page.html.indexOf('class="numbers"'))).slice(0, 2), [
      ["30 Apr 2026", "160", "5,005"],
      ["29 Apr 2026", "130", "5,001"],
    ]);
    assert.ok(page.links.includes("/compare?range=30d&repo=github%3Aacme%2Fcrane"));
    assert.match(page.html, /aria-label="Remove acme\/kite"/);
    assert.match(
      page.html,
      /rel="canonical" href="https:\/\/sidereal\.example\/compare\?repo=github:acme\/kite&amp;repo=github:acme\/crane"/,
    );
  });

  test("aligns at the first snapshot, at a count, and as an index of a day, on the page and in the embed", async () => {
    const two = "repo=github:acme/kite&repo=github:acme/crane&range=all";
    const seriesOf = async (query: string) => {
      const page = await open(world, `/compare?${two}&${query}`);
      const heading = textOf(/<h2 class="hidden">(.*?)<\/h2>/s.exec(page.html)?.[1] ?? "");
      const { lines } = dataOf(page) as PlotData;
      const embed = await world.get(`/api/embed/chart.svg?${two.replace("range", "window")}&${query}`);
      assert.equal(embed.status, 200, query);
      assert.ok(
        embed.body.includes(`<title id="chart-title">${heading}: acme/kite, acme/crane`),
        `${query}: ${heading}`,
      );
      return { heading, lines };
    };
    const first = await seriesOf("align=first-snapshot");
    assert.equal(first.heading, "Stars from the first snapshot");
    assert.deepEqual(
      first.lines.map(({ at }) => at[0]),
      [0, 0],
    );
    const count = await seriesOf("align=first-count&first=100");
    assert.equal(count.heading, "Stars from the first 100 stars");
    assert.deepEqual(
      count.lines.map(({ at, value }) => [at[0], value]),
      [
        [0, [100, 110, 130, 160]],
        [undefined, []],
      ],
    );
    const index = await seriesOf("align=index&base=2026-04-29&view=per-day");
    assert.equal(index.heading, "Stars, 100 on 29 Apr 2026");
    assert.deepEqual(
      index.lines.map(({ value }) => value.slice(-2)),
      [
        [100, 123.1],
        [100, 100.1],
      ],
    );
    const usual = await open(world, `/compare?${two}&align=index`);
    assert.equal(fieldOf(usual, "base")?.value, "2026-04-28");
  });

  test("aligns by age on a log scale, on the page and in the embed", async () => {
    const page = await open(
      world,
      "/compare?repo=acme/kite&repo=acme/crane&align=age&scale=log&metric=stars&range=all",
    );
    const { lines, align } = dataOf(page) as PlotData;
    assert.deepEqual([geometryOf(page).y.kind, align], ["log", "age"]);
    assert.deepEqual(
      lines[0]?.at,
      [6, 7, 8, 9, 10].map((days) => days * DAY_S),
    );
    // Its creation is unknown, so it has no age.
    assert.deepEqual(lines[1]?.at, []);
    assert.match(page.text, /acme\/crane: creation date unknown, so not shown by age/);
    const link = linkTo(page.html, "Share") ?? assert.fail();
    assert.deepEqual(
      [link.pathname, ...["align", "scale", "range"].map((name) => link.searchParams.get(name))],
      ["/embed", "age", "log", "all"],
    );
    assert.deepEqual(link.searchParams.getAll("repo"), ["github:acme/kite", "github:acme/crane"]);
  });

  test("rows have the step of the time that is shown, and those of ages start at 0", async () => {
    const own = await createWorld(engine);
    const lengths = { young: 15, grown: 60, old: 500 };
    await own.record(
      ...Object.entries(lengths).map(([name, days]) =>
        observation(`acme/${name}`, daily(...Array.from({ length: days }, (_, i) => 100 + i)), {
          // Created on a Thursday, which is no border of weeks by date, or on another day.
          facts: { createdAt: NOW - days * DAY_S * 1_000 },
        }),
      ),
    );
    const rows = async (query: string) => {
      const { html } = await open(own, `/compare?range=all&${query}`);
      return [...html.matchAll(/<th scope="row">([^<]*)<\/th><td class="number">/g)].map(([, name]) => name);
    };
    const ages = async (name: string) => {
      const all = await rows(`repo=acme/${name}&align=age`);
      return [all[0], all.at(-1), all.length];
    };
    assert.deepEqual(await ages("young"), ["15 days", "0 days", 16]);
    assert.deepEqual(await ages("grown"), ["56 days", "0 days", 9]);
    assert.deepEqual(await ages("old"), ["16 months", "0 months", 17]);
    const zoomed = await rows("repo=acme/old&from=2026-04-10&to=2026-04-14");
    assert.ok(zoomed.includes("12 Apr 2026"), zoomed.join());
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
    const names = [...codeberg.html.matchAll(/<span class="plot-name">(.*?)<\/span>/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(names, ["codeberg:same/name", "github:same/name"]);
  });

  test("reports names that lead nowhere, and shows the others in the given order", async () => {
    const page = await open(
      world,
      `/compare?${new URLSearchParams([
        ["repo", "acme/kite"],
        ["repo", "GITHUB:acme/KITE"],
        ["repo", "<b>bold"],
        ["repo", "no/such"],
        ["repo", "https://elsewhere.example/acme/kite"],
        ["repo", ""],
        ["repo", "acme/crane"],
      ])}`,
    );
    assert.equal(page.status, 400);
    assert.deepEqual(refusedIn(page), [
      "GITHUB:acme/KITE is already in this comparison.",
      "<b>bold is not a valid name: use owner/name, provider:owner/name, or a URL.",
      "no/such is not tracked here.",
      "https://elsewhere.example/acme/kite is not tracked here.",
    ]);
    assert.ok(!page.html.includes("<b>bold"));
    assert.ok(
      !page.html.includes('href="https://elsewhere.example'),
      "no link to a host that only the name gives",
    );
    assert.match(page.html, /<input id="add" name="repo"[^>]*value="&lt;b>bold/);
    assert.match(page.html, /<title>Compare acme\/kite, acme\/crane ·/);
    const wrong = await open(world, "/compare?repo=acme/kite&scale=cubic");
    assert.deepEqual([wrong.status, problemsOf(wrong)], [400, ["scale"]]);
  });

  test("offers what a misspelt name may mean, in its place of the comparison", async () => {
    const page = await open(world, "/compare?repo=acme/crane&repo=acme/kit&range=all");
    assert.equal(page.status, 400);
    assert.doesNotMatch(page.text, /could not be read/);
    assert.deepEqual(refusedIn(page), ["acme/kit is not tracked here. Did you mean acme/kite?"]);
    const meant = page.links.find((link) => link.includes("kite")) ?? "";
    const both = await open(world, meant);
    assert.equal(both.status, 200);
    assert.match(both.html, /<title>Compare acme\/crane, acme\/kite ·/);
    assert.match(meant, /range=all/);
    const word = await open(world, "/compare?repo=kite");
    assert.match(word.html, /<title>Compare acme\/kite ·/, "the only one with that name");
    const several = await open(world, "/compare?repo=acme/crane+kite&repo=acme/nope");
    assert.match(several.html, /<title>Compare acme\/crane, acme\/kite ·/);
    assert.match(several.text, /acme\/nope is not tracked here/);
  });

  test("says what each gained in the time shown, and from which day", async () => {
    const own = await createWorld(engine);
    await own.record(
      observation("long/one", daily(100, 110, 120, 130, 140, 150)),
      observation("late/two", daily(0, 8)),
      observation("once/three", daily(5)),
      observation("held/four", [
        snapshot(96, 900, { source: "BACKFILLED" }),
        snapshot(48, 950, { source: "BACKFILLED" }),
        snapshot(0, 1_200),
      ]),
    );
    const page = await open(own, "/compare?repo=long/one&repo=late/two&repo=once/three&repo=held/four");
    assert.match(page.text, /Since 25 Apr 2026/);
    assert.deepEqual(
      rowsOf(page.html, "list compared").map((cells) => [cells[0], cells[1], cells[5]]),
      [
        ["held/four", "1,200", "+300 +33%"],
        ["long/one", "150", "+50 +50%"],
        ["late/two", "8", "+8 since 29 Apr 2026"],
        ["once/three", "5", "–"],
      ],
    );
  });

  test("each repository has a chip that removes it and keeps the others, and the chart can be passed on", async () => {
    const page = await open(world, "/compare?repo=acme/kite&repo=acme/crane&range=all&align=age&theme=dark");
    const removal =
      /<a class="out" href="([^"]+)"[^>]*aria-label="Remove acme\/kite"/.exec(page.html)?.[1] ?? "";
    const rest = new URLSearchParams(removal.replaceAll("&amp;", "&").split("?")[1]);
    assert.deepEqual(
      [...rest],
      [
        ["range", "all"],
        ["align", "age"],
        ["theme", "dark"],
        ["repo", "github:acme/crane"],
      ],
    );
    const share = linkTo(page.html, "Share") ?? assert.fail();
    assert.deepEqual(
      ["kind", "range", "align", "theme"].map((name) => share.searchParams.get(name)),
      ["post", "all", "age", "dark"],
    );
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
    assert.deepEqual(refusedIn(over), ["team/tool is left out: a chart has at most 6 repositories."]);
    assert.equal((dataOf(over) as PlotData).lines.length, 6);
    const flood = await open(
      world,
      `/compare?${Array.from({ length: 200 }, (_, i) => `repo=x/${i}`).join("&")}`,
    );
    assert.equal(flood.status, 400);
    assert.equal(refusedIn(flood).length, 21, "20 unknown names, and that there are more");
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
    assert.doesNotMatch(one.html, /class="plot"/, "no chart without two counts of forks");
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
