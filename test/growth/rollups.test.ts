import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Database, RollupTable } from "../../src/database/database.js";
import type { Rankings } from "../../src/discovery/rankings.js";
import { type Window, windowMs } from "../../src/growth/definitions.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Observation, Snapshot } from "../../src/repositories/repository.js";
import { chooseFrom } from "../../src/repositories/series.js";
import { onBothEngines } from "../support/engines.js";
import { discoveryOf } from "../support/lists.js";
import { fc } from "../support/properties.js";
import { NOW, observation, snapshot } from "../support/world.js";

/** The snapshot to compare with, as documented: nearest to `to - window`, 0.5 to 2 windows before `to`. */
function nearest(times: readonly number[], to: number, lengthMs: number): number | undefined {
  const allowed = times.filter((at) => to - at >= lengthMs / 2 && to - at <= 2.25 * lengthMs);
  const distance = (at: number) => Math.abs(to - lengthMs - at);
  return allowed.toSorted((a, b) => distance(a) - distance(b) || a - b)[0];
}

describe("The snapshot that is compared", () => {
  const [to, day] = [NOW, DAY_MS];

  test("is the nearer one, and the earlier when both are equally near", () => {
    assert.equal(chooseFrom(to, day, { before: to - day, after: to - day + 1 }), to - day);
    assert.equal(chooseFrom(to, day, { before: to - day - 2, after: to - day + 1 }), to - day + 1);
    assert.equal(chooseFrom(to, day, { before: to - day - 5, after: to - day + 5 }), to - day - 5);
  });

  test("is half a window to two and a quarter windows older than the newest, both included", () => {
    assert.equal(chooseFrom(to, day, { before: to - 2.25 * day, after: null }), to - 2.25 * day);
    assert.equal(chooseFrom(to, day, { before: to - 2.25 * day - 1, after: null }), undefined);
    assert.equal(chooseFrom(to, day, { before: null, after: to - day / 2 }), to - day / 2);
    assert.equal(chooseFrom(to, day, { before: null, after: to - day / 2 + 1 }), undefined);
    assert.equal(chooseFrom(to, day, { before: to - 3 * day, after: to - day / 2 }), to - day / 2);
    assert.equal(chooseFrom(to, day, { before: null, after: null }), undefined);
  });

  test("is the nearest of all", () => {
    const ages = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
    fc.assert(
      fc.property(ages, fc.constantFrom(24, 168), (hours, length) => {
        const times = hours.map((hour) => to - hour * 6 * HOUR_MS);
        const target = to - length * HOUR_MS;
        const pick = (list: number[], choose: (...values: number[]) => number) =>
          list.length === 0 ? null : choose(...list);
        const before = pick(
          times.filter((at) => at <= target),
          Math.max,
        );
        const after = pick(
          times.filter((at) => at > target),
          Math.min,
        );
        assert.equal(
          chooseFrom(to, length * HOUR_MS, { before, after }),
          nearest(times, to, length * HOUR_MS),
        );
      }),
    );
  });
});

/** The part of a trend that follows from the two snapshots alone. */
interface Comparison {
  from: number;
  to: number;
  starsDelta: number;
  forksDelta: number | null;
  openIssuesDelta: number | null;
  starsGrowth: number | null;
  usualPerDay: number | null;
}

/** Stars gained on a usual day before a time, as documented: the median gain a day between the last snapshots of days. */
function usualBefore(history: readonly Snapshot[], from: Snapshot): number | null {
  const chosen = [from];
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  for (const each of history.toSorted((a, b) => b.capturedAt - a.capturedAt)) {
    const last = chosen.at(-1) ?? from;
    const isEarlierDay = day(each.capturedAt) < day(last.capturedAt);
    if (isEarlierDay && last.capturedAt - each.capturedAt >= DAY_MS / 2) chosen.push(each);
  }
  const paces = chosen.slice(1, 31).map((each, i) => {
    const later = chosen[i] ?? each;
    return ((later.stars - each.stars) * DAY_MS) / (later.capturedAt - each.capturedAt);
  });
  if (paces.length < 3) return null;
  const sorted = paces.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? 0;
  const half = sorted.length / 2;
  const median = Number.isInteger(half) ? (at(half - 1) + at(half)) / 2 : at(Math.floor(half));
  return Math.round(Math.max(0, median) * 100) / 100;
}

/** The start of the newest day with at least half as many times as a usual one of the newest thirty. */
function fullDayOf(times: readonly number[]): number {
  const days = [...Map.groupBy(times, (at) => Math.floor(at / DAY_MS))].toSorted(([a], [b]) => b - a);
  const sizes = days
    .slice(0, 30)
    .map(([, all]) => all.length)
    .toSorted((a, b) => a - b);
  const at = (index: number) => sizes[Math.floor(index)] ?? 0;
  const usual = (at((sizes.length - 1) / 2) + at(sizes.length / 2)) / 2;
  return (days.find(([, all]) => all.length >= usual / 2)?.[0] ?? 0) * DAY_MS;
}

/** All trends, computed in the simplest way. */
function modelOf(
  histories: ReadonlyMap<string, readonly Snapshot[]>,
): Map<string, Record<Window, Comparison | null>> {
  const minus = (a: number | null | undefined, b: number | null | undefined) =>
    a === null || b === null || a === undefined || b === undefined ? null : a - b;
  const providerOf = (key: string) => key.split(" ")[0];
  const model = new Map<string, Record<Window, Comparison | null>>();
  for (const [key, history] of histories) {
    const peers = [...histories].filter(([other]) => providerOf(other) === providerOf(key));
    const fullDay = fullDayOf(peers.flatMap(([, other]) => other.map(({ capturedAt }) => capturedAt)));
    const compare = (window: Window): Comparison | null => {
      const newest = history.toSorted((a, b) => b.capturedAt - a.capturedAt)[0];
      if (newest === undefined || newest.capturedAt < fullDay - windowMs(window) / 2) return null;
      const times = history.map(({ capturedAt }) => capturedAt);
      const from = nearest(times, newest.capturedAt, windowMs(window));
      const old = history.find(({ capturedAt }) => capturedAt === from);
      if (old === undefined) return null;
      return {
        from: old.capturedAt,
        to: newest.capturedAt,
        starsDelta: newest.stars - old.stars,
        forksDelta: minus(newest.forks, old.forks),
        openIssuesDelta: minus(newest.openIssues, old.openIssues),
        starsGrowth: old.stars === 0 ? null : (newest.stars - old.stars) / old.stars,
        usualPerDay: usualBefore(
          history.filter(({ capturedAt }) => capturedAt >= newest.capturedAt - 67.5 * DAY_MS),
          old,
        ),
      };
    };
    model.set(key, { "24h": compare("24h"), "7d": compare("7d"), "30d": compare("30d") });
  }
  return model;
}

onBothEngines("Rollups", (engine) => {
  const open = async () => {
    const database = await engine.open();
    return { database, ...discoveryOf(database) };
  };

  /** The comparison in each trend, by `PROVIDER owner/name`. */
  const trendsOf = async (catalog: Catalog, rankings: Rankings) => {
    const found = new Map<string, Record<Window, Comparison | null>>();
    for (const { repository } of await catalog.dump(0, 1_000)) {
      const trends = await rankings.trendsOf(repository.id);
      const of = (window: Window): Comparison | null => {
        const trend = trends[window];
        if (trend === null) return null;
        const { from, to, starsDelta, forksDelta, openIssuesDelta, starsGrowth, usualPerDay } = trend;
        return { from, to, starsDelta, forksDelta, openIssuesDelta, starsGrowth, usualPerDay };
      };
      found.set(`${repository.provider} ${repository.fullName}`, {
        "24h": of("24h"),
        "7d": of("7d"),
        "30d": of("30d"),
      });
    }
    return found;
  };

  /** Every column of every rollup but the id, which depends on the order of recording. */
  const rowsOf = async (database: Database) => {
    const { rows } = await sql<RollupTable & { name: string }>`select r.name as name, g.* from rollups g
      join repositories r on r.id = g.repository_id order by r.provider, r.name, g.window_hours`.execute(
      database.read,
    );
    return rows.map(({ repository_id, ...row }) => row);
  };

  // Movements that are not worth doubting: of a few, or by less than a twentieth.
  const ranges = fc.constantFrom<fc.IntegerConstraints>({ min: 0, max: 4 }, { min: 2_400, max: 2_500 });
  const reading = (range: fc.IntegerConstraints) => {
    const count = fc.option(fc.integer(range), { freq: 5 });
    return fc.record({
      hours: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 1_600 })),
      stars: fc.integer(range),
      forks: count,
      openIssues: count,
    });
  };
  const world = ranges.chain((range) =>
    fc.record({
      histories: fc.dictionary(
        fc.constantFrom("GITHUB o/a", "GITHUB o/b", "GITHUB o/c", "GITLAB g/h/d", "GITLAB g/e"),
        fc.uniqueArray(reading(range), { selector: ({ hours }) => hours, maxLength: 25 }),
      ),
      /** The batch of each reading, and the batches after which growth is updated. */
      batches: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 20 }),
      updates: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    }),
  );

  test("equal a simple computation, whatever the order and batches of recording", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ histories: readings, batches, updates }) => {
        const histories = new Map(
          Object.entries(readings).map(([key, list]) => [
            key,
            list.map(({ hours, stars, forks, openIssues }) => snapshot(hours, stars, { forks, openIssues })),
          ]),
        );
        const observations = [...histories].flatMap(([key, list]) => {
          const [provider = "", fullName = ""] = key.split(" ");
          return list.map((each) => observation(fullName, [each], { provider }));
        });
        const once = await open();
        await once.catalog.record(observations);
        await once.rankings.update();
        const present = new Map([...histories].filter(([, list]) => list.length > 0));
        assert.deepEqual(await trendsOf(once.catalog, once.rankings), modelOf(present));

        const bitByBit = await open();
        for (const [batch, isUpdated] of updates.entries()) {
          await bitByBit.catalog.record(
            observations.filter((_, i) => (batches[i % batches.length] ?? 0) === batch),
          );
          if (isUpdated) await bitByBit.rankings.update();
        }
        await bitByBit.rankings.update();
        assert.deepEqual(await rowsOf(bitByBit.database), await rowsOf(once.database));
        await once.database.close();
        await bitByBit.database.close();
      }),
      { numRuns: engine.name === "sqlite" ? 40 : 6 },
    );
  });

  test("stay when a few others of the provider are read later, and disappear half a window before its newest full day", async () => {
    const { catalog, rankings } = await open();
    const windowsOf = async (id: number) =>
      Object.entries(await rankings.trendsOf(id)).flatMap(([window, trend]) =>
        trend === null ? [] : [window],
      );
    const record = async (...observations: Observation[]) => {
      await catalog.record(observations);
      await rankings.update();
    };
    const names = Array.from({ length: 10 }, (_, i) => `o/r${i}`);
    const days = Array.from({ length: 40 }, (_, i) => 24 * (i + 10));
    await record(
      ...names.map((name) =>
        observation(
          name,
          days.map((hours) => snapshot(hours, 2_000 - hours)),
        ),
      ),
    );
    const later = (hours: number, count: number, provider = "GITHUB") =>
      record(...names.slice(-count).map((name) => observation(name, [snapshot(hours, 2_000)], { provider })));
    assert.deepEqual(await windowsOf(1), ["24h", "7d", "30d"]);
    await later(0, 10, "GITLAB");
    await later(24 * 5, 4);
    await later(0, 4);
    assert.deepEqual(await windowsOf(1), ["24h", "7d", "30d"], "four of ten are not a full day");
    await later(24 * 8, 9);
    assert.deepEqual(await windowsOf(1), ["7d", "30d"]);
    await later(24 * 5, 9);
    assert.deepEqual(await windowsOf(1), ["30d"]);
    await record(observation("o/r0", [snapshot(24 * 5 - 1, 2_000)]));
    assert.deepEqual(await windowsOf(1), ["7d", "30d"]);
  });
});
