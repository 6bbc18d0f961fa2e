import assert from "node:assert/strict";
import { before, test } from "node:test";
import { CHART_WINDOWS, readHistory } from "../../src/charts/history.js";
import { onSqliteAndLong } from "../support/engines.js";
import { fc } from "../support/properties.js";
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
      const history = await readHistory(world.modules.catalog, await world.modules.catalog.get(id), {
        metric: "stars",
        window: "30d",
      });
      assert.equal(history.points[0]?.at, Date.parse(trend.from), fullName);
    }
    assert.ok(trends > REPOSITORIES / 2);
  });

  test("starts at the nearest snapshot to the boundary where no trend has its length", async () => {
    const { catalog } = world.modules;
    for (const id of ids) {
      const all = (await catalog.series(id, 0)).points.map(({ capturedAt }) => capturedAt);
      const newest = all.at(-1) ?? 0;
      const history = await readHistory(catalog, await catalog.get(id), { metric: "stars", window: "90d" });
      const target = newest - 90 * 86_400_000;
      const nearest = all.reduce((best, at) => (Math.abs(at - target) < Math.abs(best - target) ? at : best));
      // Without a snapshot at least half the window old, the series is everything in the window.
      const first = newest - nearest >= 45 * 86_400_000 ? nearest : all[0];
      assert.equal(history.points[0]?.at, first);
    }
  });

  test("holds what its trend compares, also where it begins with stars still held", async () => {
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
      const part = trend.parts.find(({ basis }: { basis: string }) => basis === chart.gainedBasis);
      assert.equal(chart.gained, part.gained, `${i}`);
      assert.equal(chart.seams.length <= 1, true);
    }
    assert.deepEqual(seen, new Set(["TOTAL", "RETAINED"]));
  });

  test("ends with the newest snapshot of a repository that was not seen since", async () => {
    await world.record(observation("o/quiet", [snapshot(45 * 24, 7), snapshot(40 * 24, 8)]));
    const found = await world.modules.catalog.findByName("GITHUB", "o/quiet");
    assert.ok(found);
    const { repository } = found;
    assert.equal((await world.get(`/api/repos/${repository.id}/metrics`)).body.data.length, 2);
    for (const window of CHART_WINDOWS) {
      const { points } = await readHistory(world.modules.catalog, repository, { metric: "stars", window });
      assert.equal(points.length, 2, window);
    }
  });
});
