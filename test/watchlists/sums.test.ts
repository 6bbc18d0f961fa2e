import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Random } from "../../bench/synthetic/random.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import { SNAPSHOT_SOURCES, type SnapshotSource } from "../../src/repositories/record-rules.js";
import type { SumPoint } from "../../src/watchlists/sums.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countTurns } from "../support/turns.js";
import { createWorld, NOW, observation, snapshotAt, type World } from "../support/world.js";

type Counts = Pick<SumPoint, "stars" | "forks" | "openIssues" | "watchers"> & {
  at: number;
  source: SnapshotSource;
};

const REPOSITORIES = 12;
const MONDAY_MS = 4 * DAY_MS;

/** The sums as the documents describe them, one bucket and one repository after the other. */
function modelOf(histories: readonly (readonly Counts[])[], from: number, lengthMs: number): SumPoint[] {
  const bucketOf = (at: number) => Math.floor((at - (lengthMs === WEEK_MS ? MONDAY_MS : 0)) / lengthMs);
  const times = histories.flatMap((history) => history.map(({ at }) => at)).filter((at) => at >= from);
  const ends = new Map<number, number>();
  for (const at of times) ends.set(bucketOf(at), Math.max(at, ends.get(bucketOf(at)) ?? 0));
  return [...ends.values()]
    .sort((a, b) => a - b)
    .map((end) => {
      const last = histories.flatMap((history) => history.findLast(({ at }) => at <= end) ?? []);
      const sum = (name: "forks" | "openIssues" | "watchers") => {
        const known = last.flatMap((counts) => counts[name] ?? []);
        return known.length === 0 ? null : known.reduce((total, one) => total + one, 0);
      };
      return {
        capturedAt: end,
        stars: last.reduce((total, { stars }) => total + stars, 0),
        forks: sum("forks"),
        openIssues: sum("openIssues"),
        watchers: sum("watchers"),
        repositories: last.length,
        retained: last.filter(({ source }) => source === "BACKFILLED").length,
      };
    });
}

onSqliteAndLong("The sums of a list", (engine) => {
  let world: World;
  const histories: Counts[][] = [];
  before(async () => {
    world = await createWorld(engine);
    const random = new Random(7);
    for (let i = 0; i < REPOSITORIES; i++) {
      const count = random.between(0, 60);
      const times = new Set(
        Array.from({ length: count }, () => NOW - random.between(0, 100 * 24) * HOUR_MS - i),
      );
      const maybe = () => (random.chance(0.3) ? null : random.between(0, 1_000));
      const history = [...times]
        .sort((a, b) => a - b)
        // The first repositories know nothing but stars.
        .map((at) => ({
          at,
          stars: random.between(0, 1_000_000),
          forks: i < 3 ? null : maybe(),
          openIssues: null,
          watchers: maybe(),
          source: random.pick(SNAPSHOT_SOURCES),
        }));
      histories.push(history);
      const snapshots = history.map(({ at, stars, ...more }) => snapshotAt(at, stars, more));
      await world.record(observation(`one/r${i}`, snapshots, { at: NOW }));
    }
  });

  const listOf = async (count: number) => {
    const { watchlists } = world.modules;
    const ids = Array.from({ length: count }, (_, i) => i + 1);
    return (await watchlists.create("Mine", ids)).watchlist;
  };

  for (const days of [0, 3, 30, 90, 200])
    test(`of the last ${days} days are those of the last snapshot of each repository until then`, async () => {
      for (const count of [1, 3, REPOSITORIES]) {
        const from = NOW - days * DAY_MS;
        const { points, resolution } = await world.modules.watchlists.metrics(await listOf(count), from);
        assert.equal(resolution, "1d");
        assert.deepEqual(points, modelOf(histories.slice(0, count), from, DAY_MS));
      }
    });

  test("are by week if a history is long", async () => {
    const own = await createWorld(engine);
    const history = Array.from({ length: 300 }, (_, i) => ({
      at: NOW - (300 - i) * 10 * DAY_MS,
      stars: i,
      forks: i % 2 === 0 ? i : null,
      openIssues: i,
      watchers: null,
      source: i < 100 ? ("BACKFILLED" as const) : ("OBSERVED" as const),
    }));
    const snapshots = history.map(({ at, stars, ...more }) => snapshotAt(at, stars, more));
    await own.record(observation("one/long", snapshots));
    const { watchlist } = await own.modules.watchlists.create("Mine", [1]);
    const { points, resolution } = await own.modules.watchlists.metrics(watchlist, 0);
    assert.equal(resolution, "1w");
    assert.deepEqual(points, modelOf([history], 0, WEEK_MS));
  });

  test("leave other work a turn of the event loop after every 50 repositories", async () => {
    const { watchlists } = world.modules;
    const list = await listOf(1);
    const items = Array.from({ length: 500 }, (_, i) => ({ repositoryId: i + 1, addedAt: NOW }));
    assert.ok((await countTurns(watchlists.metrics({ ...list, items }, 0))) >= 8);
  });

  test("of nothing are no points", async () => {
    const { watchlists } = world.modules;
    assert.deepEqual(await watchlists.metrics(await listOf(0), 0), { points: [], resolution: "1d" });
  });
});
