import assert from "node:assert/strict";
import { before, test } from "node:test";
import { CHART_WINDOWS, readHistory } from "../../src/charts/history.js";
import { PngRenderer } from "../../src/charts/png.js";
import { onSqliteAndLong } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { snapshotsOf } from "../support/snapshots.js";
import { readPicture } from "../support/svg.js";
import { createWorld, observation, snapshot, type World } from "../support/world.js";

const REPOSITORIES = 40;

/** Ages in hours of about daily captures, up to 40 minutes early or late, oldest first; the newest is `last` hours old. */
const captures = fc
  .record({
    days: fc.integer({ min: 20, max: 75 }),
    jitters: fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 76, maxLength: 76 }),
    missing: fc.array(fc.integer({ min: 20, max: 40 }), { maxLength: 8 }),
    last: fc.constantFrom(0, 0, 5, 30),
  })
  .map(({ days, jitters, missing, last }) =>
    Array.from({ length: days }, (_, day) => day)
      .filter((day) => !missing.includes(day))
      .map((day) => last + (day === 0 ? 0 : day * 24 + (jitters[day] ?? 0) / 60))
      .reverse(),
  );

onSqliteAndLong("The series of a window", (engine) => {
  let world: World;
  let ids: number[];

  before(async () => {
    world = await createWorld(engine);
    const ages = fc.sample(captures, REPOSITORIES);
    // Enough that charts are thinned to one point a day.
    ages.push(Array.from({ length: 1_400 }, (_, i) => (1_399 - i) * 0.7 + 0.01 * (i % 7)));
    await world.record(
      ...ages.map((hours, i) =>
        observation(
          `o/r${i}`,
          hours.map((age, at) => snapshot(age, 1_000 + at * at + i)),
        ),
      ),
    );
    const { body } = await world.get("/api/repos?sort=stars&limit=100");
    ids = body.data.map(({ id }: { id: string }) => Number(id));
    assert.equal(ids.length, ages.length);
  });

  test("starts at the snapshot its trend starts at, in the API, in charts and on pages", async () => {
    let trends = 0;
    for (const id of ids) {
      const series = (await world.get(`/api/repos/${id}/metrics?window=30d`)).body;
      const { fullName } = await world.modules.catalog.get(id);
      const detail = (await world.get(`/api/repos/github/${fullName}`)).body.data;
      const trend = detail.trends["30d"];
      if (trend === null) continue;
      trends++;
      assert.equal(series.data[0].capturedAt, trend.from, fullName);
      const chart = (await world.get(`/api/embed/chart?repo=github:${fullName}&window=30d`)).body.data;
      assert.equal(chart.series[0].gained, trend.starsDelta, fullName);
      const history = await readHistory(world.modules, await world.modules.catalog.get(id), {
        metric: "stars",
        window: "30d",
        trends: [],
      });
      assert.equal(history.points[0]?.at, Date.parse(trend.from), fullName);
    }
    assert.ok(trends > REPOSITORIES / 2);
  });

  test("starts at the nearest snapshot to the boundary if no trend has its length", async () => {
    const { catalog } = world.modules;
    for (const id of ids) {
      const all = (await snapshotsOf(world.modules.database, id)).map(({ capturedAt }) => capturedAt);
      const newest = all.at(-1) ?? 0;
      const history = await readHistory(world.modules, await catalog.get(id), {
        metric: "stars",
        window: "90d",
        trends: [],
      });
      const target = newest - 90 * 86_400_000;
      const nearest = all.reduce((best, at) => (Math.abs(at - target) < Math.abs(best - target) ? at : best));
      // Without a snapshot at least half the window old, the series is everything in the window.
      const first = newest - nearest >= 45 * 86_400_000 ? nearest : all[0];
      assert.equal(history.points[0]?.at, first);
    }
  });

  test("holds what its trend compares, also if it begins with stars still held", async () => {
    const own = await createWorld(engine);
    const ages = fc.sample(captures, REPOSITORIES);
    await own.record(
      observation("the/newest", [snapshot(0, 1)]),
      ...ages.map((hours, i) =>
        observation(
          `o/r${i}`,
          hours.map((age, at) =>
            snapshot(age, 1_000 + at * at + i, {
              source: at < hours.length - (i % 30) - 1 ? "BACKFILLED" : "OBSERVED",
            }),
          ),
        ),
      ),
    );
    const seen = new Set<string>();
    for (const [i] of ages.entries()) {
      const detail = (await own.get(`/api/repos/github/o/r${i}`)).body.data;
      const trend = detail.trends["30d"];
      if (trend === null) continue;
      seen.add(trend.basis);
      const chart = (await own.get(`/api/embed/chart?repo=github:o/r${i}&window=30d`)).body.data.series[0];
      const times = chart.points.map(({ at }: { at: string }) => at);
      assert.ok(times.includes(trend.from) && times.includes(trend.to), `${i}`);
      assert.deepEqual([chart.gained, chart.gainedBasis], [trend.starsDelta, trend.basis], `${i}`);
    }
    assert.deepEqual(seen, new Set(["TOTAL", "RETAINED"]));
  });

  test("a thinned chart gains as much as its trend, to the hour at which the star history ends", async () => {
    const own = await createWorld(engine);
    const hourly = Array.from({ length: 29 * 24 }, (_, i) => snapshot(29 * 24 - i - 1, 2_000 + 3 * i));
    await own.record(
      observation("o/mixed", [
        ...[40, 35, 31, 30].map((day) => snapshot(24 * day, 2_100 - 10 * day, { source: "BACKFILLED" })),
        snapshot(29 * 24 - 0.9, 1_999, { source: "BACKFILLED" }),
        ...hourly.map((one) => ({ ...one, source: "OBSERVED" as const })),
      ]),
    );
    const trend = (await own.get("/api/repos/github/o/mixed")).body.data.trends["30d"];
    const chart = (await own.get("/api/embed/chart?repo=github:o/mixed&window=30d")).body.data.series[0];
    assert.ok(chart.points.length < 600);
    assert.equal(trend.parts.length, 2);
    assert.deepEqual([chart.gained, chart.gainedBasis], [trend.starsDelta, "RETAINED"]);
  });

  test("badge, card, chart, page and API end with the newest confirmed reading", async (t) => {
    const own = await createWorld(engine);
    const days = Array.from({ length: 40 }, (_, i) => snapshot(24 * (39 - i) + 13, 10_000 + 100 * i));
    // Its last reading is not confirmed yet.
    await own.record(observation("o/doubted", [...days, snapshot(2, 40)]), observation("o/other", days));
    const { data } = (await own.get("/api/repos/github/o/doubted")).body;
    const end = "2026-04-29T23:00:00.000Z";
    assert.deepEqual([data.asOf, data.lastSeenAt, data.stars], [end, "2026-04-30T10:00:00.000Z", 40]);
    assert.deepEqual(
      ["24h", "7d", "30d"].map((window) => [data.trends[window].to, data.trends[window].starsDelta]),
      [
        [end, 100],
        [end, 700],
        [end, 3_000],
      ],
    );
    const chart = (await own.get("/api/embed/chart?repo=github:o/doubted&window=30d")).body.data;
    assert.deepEqual([chart.asOf, chart.series[0].gained], [end, 3_000]);
    assert.equal(chart.series[0].points.at(-1).value, 13_900);
    const picture = (await own.get("/api/embed/chart.svg?repo=github:o/doubted&window=30d")).body;
    assert.match(picture, />13,900</);
    assert.match(picture, />\+3,000 stars in the last 30 days\.</);
    for (const kind of ["gain", "trending", "rank"])
      assert.match(
        (await own.get(`/api/embed/badge.svg?repo=github:o/doubted&kind=${kind}`)).body,
        /as of 29 Apr 2026/,
        kind,
      );
    const stars = (await own.get("/api/embed/badge.svg?repo=github:o/doubted&kind=stars")).body;
    assert.match(stars, /o\/doubted: 40 stars, as of 30 Apr 2026/);
    const page = (await own.get("/repos/github/o/doubted")).body;
    assert.match(page, /Updated <time datetime="2026-04-29T23:00:00.000Z"/);
    let card = "";
    t.mock.method(PngRenderer.prototype, "render", async (svg: string) => {
      card = readPicture(svg)
        .texts.map(({ text }) => text)
        .join("|");
      return new Uint8Array();
    });
    await own.get("/api/embed/card.png?repo=github:o/doubted");
    assert.match(card, /\|\+100\|today\|.*\|13,900\|stars\|.*29 Apr 2026/);
  });

  test("ends with the newest snapshot of a repository that was not seen since", async () => {
    await world.record(observation("o/quiet", [snapshot(45 * 24, 7), snapshot(40 * 24, 8)]));
    const found = await world.modules.catalog.findByName("GITHUB", "o/quiet");
    assert.ok(found);
    const { repository } = found;
    assert.equal((await world.get(`/api/repos/${repository.id}/metrics`)).body.data.length, 2);
    for (const window of CHART_WINDOWS) {
      const { points } = await readHistory(world.modules, repository, {
        metric: "stars",
        window,
        trends: [],
      });
      assert.equal(points.length, 2, window);
    }
  });
});
