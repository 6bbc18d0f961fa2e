import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { dataOf, fieldOf, geometryOf, open, problemsOf, rowsOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const DAY_MS = 86_400_000;

interface PlotData {
  view: string;
  lines: { at: number[]; value: (number | null)[]; change?: (number | null)[] }[];
  events: { words: string }[];
}

/** A count that falls by a fifth for a day, as an outage looks from outside. */
const dropped = Array.from({ length: 29 }, (_, i) => (i === 20 ? 8_000 : 9_900 + i * 10));

onSqliteAndLong("Charts of pages", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("acme/dropped", daily(...dropped)),
      observation("acme/steady", daily(...Array.from({ length: 29 }, (_, i) => 500 + i * 3))),
      observation(
        "acme/missed",
        [30, 29, 28, 27, 26].map((day) => snapshot(day * 24, 700 - day)),
      ),
      observation("acme/hour", [snapshot(24, 995), snapshot(1, 1_001), snapshot(0, 1_004)]),
    );
  });

  test("show gains per day as bars, and the same in the table", async () => {
    const page = await open(world, "/repos/github/acme/steady?view=per-day");
    assert.equal(page.status, 200);
    assert.ok(page.current.includes("Per day"));
    assert.match(page.html, /<title id="whole-title">Stars per day: acme\/steady<\/title>/);
    const { view, lines } = dataOf(page) as PlotData;
    assert.equal(view, "per-day");
    assert.deepEqual(new Set(lines[0]?.value), new Set([3]));
    assert.equal(lines[0]?.value.length, 28);
    assert.deepEqual(rowsOf(page.html.slice(page.html.indexOf('class="numbers"')))[0]?.slice(0, 4), [
      "2026-04-30 12:00 UTC",
      "584 stars",
      "+3",
      "+3",
    ]);
    assert.ok(!page.html.includes(">Log<"), "bars have no logarithmic scale");
    const { html } = await open(world, "/repos/github/acme/hour");
    const rates = rowsOf(html.slice(html.indexOf('class="numbers"'))).map((row) => row[3]);
    assert.deepEqual(rates, ["–", "+6.3", "–"], "none for an hour: few stars would be many a day");
  });

  test("show the requested days, lead to the whole, and report wrong days", async () => {
    const page = await open(world, "/repos/github/acme/steady?from=2026-04-10&to=2026-04-14");
    assert.deepEqual(dataOf(page) && (dataOf(page) as PlotData).lines[0]?.value, [524, 527, 530, 533, 536]);
    assert.match(page.text, /Showing 10 Apr 2026 to 14 Apr 2026/);
    assert.ok(page.links.includes("/repos/github/acme/steady#course"), String(page.links));
    assert.equal(fieldOf(page, "from")?.value, "2026-04-10");
    assert.ok(geometryOf(page).x.to - geometryOf(page).x.from <= 4 * DAY_MS);
    const before = await open(world, "/repos/github/acme/steady?range=30d&to=2026-04-14");
    assert.match(before.text, /Showing \d+ Apr 2026 to 14 Apr 2026/, "the range ends there");
    assert.deepEqual((dataOf(before) as PlotData).lines[0]?.value.slice(-3), [530, 533, 536]);
    const empty = await open(world, "/repos/github/acme/steady?to=2020-01-01");
    assert.match(empty.text, /Showing days until 1 Jan 2020/);
    for (const query of ["from=2026-04-14&to=2026-04-10", "from=yesterday", "from=2026-02-30"]) {
      const wrong = await open(world, `/repos/github/acme/steady?${query}`);
      assert.equal(wrong.status, 400);
      assert.deepEqual(problemsOf(wrong), [query.includes("to=") ? "to" : "from"]);
      assert.equal((dataOf(wrong) as PlotData).lines[0]?.value.length, 29, "the whole chart");
    }
  });

  test("number what is unusual, and say what happened below in plain words", async () => {
    const page = await open(world, "/repos/github/acme/dropped");
    const note = /22 Apr[^<]*2026: dropped by 2,090 and recovered; neither counts/;
    assert.match(page.html.slice(page.html.indexOf('class="plot-notes')), note);
    assert.ok((dataOf(page) as PlotData).events.some(({ words }) => note.test(words)));
    assert.match(page.html, /font-weight="600"[^>]*>1<\/text>/);
    const { body } = await world.get("/api/embed/chart.svg?repo=github:acme/dropped");
    assert.match(body, note);
    const both = await open(world, "/compare?repo=acme/dropped&repo=acme/steady");
    assert.match(both.text, /acme\/dropped dropped by 2,090 and recovered/);
    const forks = await open(world, "/repos/github/acme/dropped?metric=forks");
    assert.ok(!forks.html.includes("plot-notes"), "of another count");
  });

  test("mark round numbers at their first crossing, and say so in the table", async () => {
    const page = await open(world, "/repos/github/acme/dropped");
    assert.ok(
      (dataOf(page) as PlotData).events.some(({ words }) => words === "First reached 10,000 on 12 Apr 2026"),
    );
    assert.match(page.text, /first over 10K/);
    assert.match(page.html, /class="chart-ring"/);
  });

  test("shade the time in which a repository was not seen, to the end of the axis", async () => {
    const page = await open(world, "/repos/github/acme/missed");
    assert.match(page.text, /4 Apr – 30 Apr 2026: not seen/);
    assert.equal(geometryOf(page).x.to, Math.floor(NOW / DAY_MS) * DAY_MS);
  });

  test("say the same to those who do not see them in the page and in the embed", async () => {
    const said = (svg: string) => /<desc[^>]*>(.*?) As of/.exec(svg)?.[1];
    const page = await open(world, "/compare?repo=github:acme/steady");
    const { body } = await world.get("/api/embed/chart.svg?repo=github:acme/steady");
    assert.match(said(page.html) ?? "", /gained/);
    assert.equal(said(page.html), said(body));
  });
});
