import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "node:test";
import type { PastDays, Provider } from "../../src/forges/contract.js";
import { readHistories } from "../../src/growth/history.js";
import { holesOf, type Series, STARS, seriesOf, valueAt } from "../../src/growth/series.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Logger } from "../../src/lib/log.js";
import { readTracked } from "../../src/tracking/schedule.js";
import { recordHistoryPage } from "../../src/tracking/star-history.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { snapshotsOf } from "../support/snapshots.js";
import { laneOf, openTrackingWorld, type TrackedForge } from "../support/tracking.js";
import { snapshotAt } from "../support/world.js";

const FORGE: TrackedForge = {
  kind: "github",
  name: "GITHUB",
  repositories: 1,
  catalogue: "quiet",
  hasHistory: false,
};

interface Given {
  /** Days from the creation, at 6 h, until now, at 12 h. */
  days?: number;
  /** What the forge says was gained on each day from the creation on; default: 10. */
  gained?: (day: number) => number;
  /** Totals by days from the creation's day. The last is now. */
  totals: readonly (readonly [day: number, stars: number])[];
  /** Totals of every midnight since the creation are imported after it. */
  isImported?: true;
  /** Pages that are read, of 10 days each; default: all. */
  pages?: number;
}

/** Reads the history of a repository from its forge as the worker does. */
async function readHistory(t: TestContext, engine: Engine, given: Given) {
  const { days = 29, gained = () => 10, totals, pages: wanted = Number.POSITIVE_INFINITY } = given;
  const world = await openTrackingWorld(t, await engine.open(), [FORGE]);
  const { modules, clock, opened } = world;
  await world.pass(30_000);
  await world.stop();
  const { read, write, dialect } = modules.database;
  const began = Math.ceil(clock.now() / DAY_MS) * DAY_MS;
  const now = began + (days + 0.5) * DAY_MS;
  clock.advance(now - clock.now());
  const createdAt = began + DAY_MS / 4;
  const row = await read.selectFrom("repositories").select(["id", "owner", "name"]).executeTakeFirstOrThrow();
  for (const table of ["snapshots", "snapshot_blocks"] as const) await write.deleteFrom(table).execute();
  const snapshots = totals.map(([day, stars]) => snapshotAt(began + day * DAY_MS, stars));
  const named = { provider: "GITHUB", owner: row.owner, name: row.name };
  await modules.catalog.record([{ ...named, at: null, facts: {}, snapshots }]);
  const [countedAt, stars] = [snapshots.at(-1)?.capturedAt ?? 0, snapshots.at(-1)?.stars ?? 0];
  await write
    .updateTable("repositories")
    .set({ counted_at: countedAt, stars, created_at: createdAt })
    .execute();
  await write.updateTable("tracking").set({ history_cursor: null, history_due: 0 }).execute();
  const all: PastDays["days"] = [];
  for (let day = days; day >= 0; day--) all.push({ day: began + day * DAY_MS, gained: gained(day) });
  const history = async (_: unknown, cursor: string | null): Promise<PastDays> => {
    const from = Number(cursor ?? "0");
    return {
      days: all.slice(from, from + 10),
      next: from + 10 < all.length ? String(from + 10) : null,
    };
  };
  const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
  const logged: object[] = [];
  const log = { info: (fields: object) => logged.push(fields) } as unknown as Logger;
  const lane = { ...laneOf(world, provider), log };
  for (let page = 0; page < wanted; page++) {
    const [asked] = await readTracked(read, dialect, { ids: [row.id] });
    const result = await recordHistoryPage(lane, asked ?? assert.fail());
    assert.equal(result.kind, "recorded");
    if (result.kind !== "recorded" || !result.hasMore) break;
  }
  if (given.isImported) {
    const midnights = Array.from({ length: days + 1 }, (_, day) =>
      snapshotAt(began + day * DAY_MS, 10 * day),
    );
    const imported = {
      ...named,
      facts: {},
      at: null,
      source: "awesome-go",
      snapshots: midnights.map((one) => ({ ...one, source: "IMPORTED" as const })),
    };
    await modules.catalog.record([imported]);
  }
  const [known] = await readHistories(read, dialect, { ids: [row.id], onDamaged: assert.fail });
  assert.ok(known);
  const series = seriesOf(known);
  const starsAt = (day: number) => valueAt(series, began + day * DAY_MS, STARS);
  const gains = Array.from({ length: days }, (_, day) => (starsAt(day + 1) ?? 0) - (starsAt(day) ?? 0));
  return { ...known, series, starsAt, gains, logged, stored: await snapshotsOf(modules.database, row.id) };
}

/** Kinds of the points in order, each with the number of neighbours of it. */
function kindsOf({ points, isFromCreation }: Series): [kind: string, points: number][] {
  const kinds: [string, number][] = [];
  for (let i = 0; i < points.length; i++) {
    const kind = i === 0 && isFromCreation ? "creation" : points.isRetained(i) ? "history" : "total";
    const last = kinds.at(-1);
    if (last?.[0] === kind) last[1]++;
    else kinds.push([kind, 1]);
  }
  return kinds;
}

const near = (values: readonly number[], expected: number) =>
  assert.ok(
    values.every((one) => Math.abs(one - expected) < 0.01 * expected + 0.01),
    `${values} are not all ${expected}`,
  );

onSqliteAndLong("The series of a repository whose star history is read", (engine) => {
  test("begins with its creation and goes on with totals, without a step between", async (t) => {
    const { series, gains, logged } = await readHistory(t, engine, { totals: [[29.5, 300]] });
    assert.deepEqual(kindsOf(series), [
      ["creation", 1],
      ["history", 29],
      ["total", 1],
    ]);
    assert.deepEqual([series.fit, series.unseen], [{ sum: 300, total: 300, undated: 0 }, null]);
    near(gains, 10);
    assert.equal(series.points.stars(0), 0);
    assert.equal(logged.length, 1, "one line of each history");
    assert.partialDeepStrictEqual(logged, [{ provider: "GITHUB", ratio: 1 }]);
    assert.match(JSON.stringify(logged), /"repository":"[^"]+\/[^"]+"/);
  });

  test("with fewer dated stars than the total begins with the others, which are gained on no day", async (t) => {
    const { series, gains, logged, stored, createdAt } = await readHistory(t, engine, {
      totals: [[29.5, 500]],
      gained: (day) => (day < 5 ? 0 : 12),
    });
    assert.deepEqual([stored[0]?.capturedAt, stored[0]?.stars], [createdAt, 200]);
    assert.deepEqual([series.points.at(0), series.points.stars(0)], [createdAt, 200]);
    assert.deepEqual(series.fit, { sum: 300, total: 500, undated: 200 });
    near(gains.slice(1, 5), 0);
    near(gains.slice(5), 12);
    assert.partialDeepStrictEqual(logged, [{ ratio: 0.6 }]);
  });

  test("with more of them is scaled, and loses the days of none", async (t) => {
    const { series, gains, logged, stored } = await readHistory(t, engine, { totals: [[29.5, 240]] });
    near(gains, 8);
    assert.equal(series.points.stars(0), 0);
    assert.deepEqual(series.fit, { sum: 300, total: 240, undated: 0 });
    assert.partialDeepStrictEqual(logged, [{ ratio: 1.25 }]);
    const history = stored.filter(({ source }) => source === "BACKFILLED").map(({ stars }) => stars);
    assert.deepEqual(
      history,
      Array.from({ length: 30 }, (_, i) => 10 * (i + 1)),
      "what is stored is raised",
    );
  });

  test("takes the place of no total of midnight, nor that its place", async (t) => {
    const { stored } = await readHistory(t, engine, { totals: [[29.5, 300]], isImported: true });
    const sources = Object.groupBy(stored, ({ source }) => source);
    assert.deepEqual([sources.IMPORTED?.length, sources.BACKFILLED?.length], [31, 30]);
    const before = await readHistory(t, engine, {
      totals: [...Array.from({ length: 10 }, (_, day) => [day + 20, 10 * day + 200] as const), [29.5, 300]],
    });
    assert.equal(before.stored.filter(({ source }) => source !== "BACKFILLED").length, 11);
    near(before.gains, 10);
  });

  test("of which a part is read begins there, and is not scaled", async (t) => {
    for (const stars of [500, 240]) {
      const { series, gains, logged, isHistoryWhole } = await readHistory(t, engine, {
        totals: [[29.5, stars]],
        pages: 1,
      });
      assert.equal(isHistoryWhole, false);
      assert.deepEqual(kindsOf(series), [
        ["history", 9],
        ["total", 1],
      ]);
      near(gains.slice(21), 10);
      assert.equal(series.fit?.undated, 0);
      assert.deepEqual(logged, [], "not before it is whole");
    }
  });

  test("is kept by the week beyond 400 days, and gained evenly within a week", async (t) => {
    const { series, gains } = await readHistory(t, engine, { totals: [[600.5, 6_010]], days: 600 });
    assert.ok(series.points.length < 400 + 35, `${series.points.length} points`);
    near(gains.slice(2), 10);
  });

  test("is filled from it where totals are far apart, which it never replaces", async (t) => {
    const totals = [20.5, 21.5, 26.5, 27.5, 28.5, 29.5].map((day) => [day, 10 * day] as const);
    const { series, gains, stored } = await readHistory(t, engine, {
      totals,
      gained: (day) => (day === 29 ? 5 : day < 22 || day > 25 ? 10 : day === 24 ? 28 : 4),
    });
    assert.deepEqual(kindsOf(series), [
      ["creation", 1],
      ["history", 20],
      ["total", 2],
      ["history", 5],
      ["total", 4],
    ]);
    assert.deepEqual(holesOf(series), []);
    const ofTotals = stored.filter(({ source }) => source !== "BACKFILLED").map(({ stars }) => stars);
    assert.deepEqual(
      ofTotals,
      totals.map(([, stars]) => stars),
    );
    near([...gains.slice(0, 22), ...gains.slice(26)], 10);
    near([gains[22] ?? 0, gains[23] ?? 0, gains[25] ?? 0], 4);
    near([gains[24] ?? 0], 28);
    assert.ok(stored.length <= totals.length + 20 + 9 + 1, "only such days are stored");
  });
});
