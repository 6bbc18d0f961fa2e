import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { WINDOWS } from "../../src/growth/definitions.js";
import { growthOf } from "../../src/growth/gains.js";
import { isPerhapsBack } from "../../src/growth/history.js";
import { readSeries } from "../../src/growth/reader.js";
import { readStored } from "../../src/growth/stored.js";
import { DAY_MS, WEEK_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, type Modules } from "../../src/modules.js";
import { type Recency, readRecency } from "../../src/repositories/recency.js";
import { SNAPSHOT_SOURCES } from "../../src/repositories/record-rules.js";
import type { Repository, Snapshot } from "../../src/repositories/repository.js";
import { basisOf } from "../../src/repositories/snapshots/readings.js";
import { type Thinning, thinSnapshots } from "../../src/repositories/snapshots/removal.js";
import { onBothEngines } from "../support/engines.js";
import { historyOf } from "../support/growth.js";
import { ManualClock } from "../support/manual-clock.js";
import { examples, fc } from "../support/properties.js";
import { snapshotsOf } from "../support/snapshots.js";
import { openCatalog } from "../support/tables.js";
import { NOW, observation, snapshot } from "../support/world.js";

const NAMES = ["one", "two", "three"] as const;
const count = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 5_000 }));
const anySnapshot = fc.record({
  hoursAgo: fc.oneof(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 2_400 })),
  stars: fc.integer({ min: 0, max: 100_000 }),
  forks: count,
  openIssues: count,
  watchers: count,
  source: fc.constantFrom(...SNAPSHOT_SOURCES),
});
/** Runs of snapshots, so that blocks are filled and divided. */
const run = fc
  .tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 5 }))
  .map(([end, length, step]) =>
    Array.from({ length }, (_, i) => snapshot(end + (length - i) * step, 10 + i, { forks: i % 3 })),
  );
const some = fc
  .array(anySnapshot, { minLength: 1, maxLength: 6 })
  .map((list) => list.map(({ hoursAgo, stars, ...rest }) => snapshot(hoursAgo, stars, rest)));
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("record" as const),
      name: fc.constantFrom(...NAMES),
      snapshots: fc.oneof({ weight: 3, arbitrary: some }, { weight: 1, arbitrary: run }),
      isKilled: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("pack" as const), most: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("thin" as const),
      days: fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 100 })),
    }),
  },
);

/** The snapshots by repository and time; the first one at a time stays. */
type Model = Map<string, Map<number, Snapshot>>;

const inOrder = (model: Model, name: string): Snapshot[] =>
  [...(model.get(name)?.values() ?? [])].sort((a, b) => a.capturedAt - b.capturedAt);

function thinModel(model: Model, steps: readonly Thinning[]): void {
  for (const [name, known] of model) {
    const begin = inOrder(model, name).find(({ source }) => basisOf(source) === "RETAINED");
    for (const { from, to, step: length } of steps) {
      // Totals and stars still held take each other's place in no step.
      for (const all of Map.groupBy(inOrder(model, name), ({ source }) => basisOf(source)).values())
        for (const [i, { capturedAt }] of all.entries()) {
          const next = all[i + 1]?.capturedAt ?? Number.POSITIVE_INFINITY;
          const isLast = Math.floor(next / length) !== Math.floor(capturedAt / length);
          const isThinned = !isLast && capturedAt !== begin?.capturedAt;
          if (capturedAt >= from && capturedAt < to && isThinned) known.delete(capturedAt);
        }
    }
  }
}

/** Stars gained per window, from the plain model of the snapshots. */
function gainsOf(
  all: readonly Snapshot[],
  { provider, id, discoveredAt }: Pick<Repository, "provider" | "id" | "discoveredAt">,
  recency: Recency,
): (number | null)[] {
  const [first, newest] = [all[0], all.at(-1)];
  if (first === undefined || newest === undefined) return WINDOWS.map(() => null);
  const recent = all.filter(({ capturedAt }) => capturedAt >= newest.capturedAt - 67.5 * DAY_MS);
  const readings = historyOf(recent).readings;
  let read: readonly Snapshot[] = recent;
  // A star history is fitted from its beginning on.
  if (readings.isRetained(0) && recent[0] !== first) read = [first, ...recent];
  const seenFor = newest.capturedAt - discoveredAt;
  if (seenFor > 67.5 * DAY_MS && (seenFor <= 180 * DAY_MS || isPerhapsBack(readings))) read = all;
  const facts = { provider, repositoryId: id, createdAt: null, discoveredAt };
  const growth = growthOf(historyOf(read, facts), recency);
  return WINDOWS.map((window) => {
    const found = growth.find((one) => one.window === window);
    return found?.starsDelta ?? null;
  });
}

async function check(modules: Modules, provider: string, model: Model): Promise<void> {
  const { catalog, database, rankings } = modules;
  await rankings.update();
  const recency = await readRecency(database.read);
  let total = 0;
  for (const name of NAMES) {
    const expected = inOrder(model, name);
    total += expected.length;
    const found = await catalog.findByName(provider, `o/${name}`);
    if (found === undefined) {
      assert.equal(expected.length, 0);
      continue;
    }
    const { id } = found.repository;
    assert.deepEqual(await snapshotsOf(database, id), expected, name);
    const [dumped] = await catalog.dump(id - 1, 1);
    assert.deepEqual(dumped?.snapshots, expected);
    const from = NOW - 50 * DAY_MS;
    const { points } = await readStored(database, id, { from, lengthMs: undefined, step: "all" });
    assert.deepEqual(
      points.map(({ counts, ...one }) => one),
      expected.filter(({ capturedAt }) => capturedAt >= from),
    );
    assert.deepEqual(await catalog.snapshotRange(id), {
      snapshots: expected.length,
      firstSnapshotAt: expected[0]?.capturedAt ?? null,
      lastSnapshotAt: expected.at(-1)?.capturedAt ?? null,
    });
    const trends = await rankings.trendsOf(id);
    const gains = WINDOWS.map((window) => trends[window]?.starsDelta ?? null);
    assert.deepEqual(gains, gainsOf(expected, found.repository, recency), name);
  }
  const counted = await database.read
    .selectFrom("snapshot_hours")
    .select(({ fn }) => fn.sum<number>("snapshots").as("total"))
    .where("provider", "=", provider)
    .executeTakeFirst();
  assert.equal(Number(counted?.total ?? 0), total);
}

onBothEngines("Stored snapshots", (engine) => {
  test("equal a plain model, whatever is recorded, packed, thinned and killed in whatever order", async () => {
    const modules = buildModules(await engine.open(), {
      clock: new ManualClock(NOW),
      log: createLog("silent"),
    });
    const { catalog, database } = modules;
    const { dialect, write } = database;
    let examplesSoFar = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const provider = `P${examplesSoFar++}`;
        const model: Model = new Map(NAMES.map((name) => [name, new Map()]));
        for (const one of steps) {
          if (one.kind === "pack") await catalog.pack(one.most);
          if (one.kind === "thin") {
            const to = Math.floor((NOW - one.days[0] * DAY_MS) / DAY_MS) * DAY_MS;
            const weekly = Math.floor((NOW - (one.days[0] + one.days[1]) * DAY_MS) / WEEK_MS) * WEEK_MS;
            const thinnings = [
              { from: 0, to, step: DAY_MS },
              { from: 0, to: weekly, step: WEEK_MS },
            ];
            thinModel(model, thinnings);
            const rows = await database.read
              .selectFrom("repositories")
              .select("id")
              .where("provider", "=", provider)
              .execute();
            const ids = rows.map(({ id }) => id);
            await dialect.exclusively(write, "catalogue", (tx) =>
              thinSnapshots(tx, dialect, { ids, steps: thinnings }),
            );
          }
          if (one.kind !== "record") continue;
          const batch = [observation(`o/${one.name}`, one.snapshots, { provider })];
          const recording = dialect.exclusively(write, "catalogue", async (tx) => {
            const { snapshotsAdded } = await catalog.recordIn(tx, batch);
            if (one.isKilled) throw new Error("killed");
            return snapshotsAdded;
          });
          if (one.isKilled) {
            await assert.rejects(recording, /killed/);
            continue;
          }
          const known = model.get(one.name);
          const before = known?.size ?? 0;
          for (const given of one.snapshots) {
            // Of a history, the end of a day is a millisecond before it.
            const isDay = given.source === "BACKFILLED" && given.capturedAt % DAY_MS === 0;
            const capturedAt = given.capturedAt - (isDay ? 1 : 0);
            if (!known?.has(capturedAt)) known?.set(capturedAt, { ...given, capturedAt });
          }
          assert.equal(await recording, (known?.size ?? 0) - before);
        }
        await check(modules, provider, model);
      }),
      {
        numRuns: examples(engine.name === "sqlite" ? 100 : 40),
        // A jump to a level from before the growth's days.
        examples: [
          [
            [
              {
                kind: "record",
                name: "one",
                isKilled: false,
                snapshots: [60.04, 0.5, 0].map((days, i) => snapshot(24 * days, [5, 0, 80][i] ?? 0)),
              },
              { kind: "pack", most: 1 },
            ],
          ],
        ],
      },
    );
  });

  test("of a tail are packed once there are many, and no response changes", async () => {
    const { catalog, database } = await openCatalog(engine);
    const all = Array.from({ length: 30 }, (_, i) => snapshot(30 - i, i));
    for (const one of all) await catalog.record([observation("o/r", [one])]);
    const revision = await catalog.revision();
    assert.equal(await catalog.pack(10), 1);
    assert.equal(await catalog.pack(10), 0);
    assert.equal(await catalog.revision(), revision);
    assert.deepEqual(await snapshotsOf(database, 1), all);
    assert.deepEqual(await database.read.selectFrom("snapshots").selectAll().execute(), []);
  });

  test("take at most 12 bytes each after 90 days, recorded day by day", async () => {
    const { catalog, database } = await openCatalog(engine);
    const repositories = 40;
    for (let day = 0; day < 90; day++) {
      const batch = Array.from({ length: repositories }, (_, i) => {
        const stars = 100 * i + Math.floor((day * i) / 7);
        // To the millisecond, as this service observes.
        const at = snapshot(24 * (90 - day) + ((day * i) % 13) / 29, stars, {
          forks: 9 * i + Math.floor(day / 9),
          openIssues: (day * i) % 11,
          watchers: i,
          source: "OBSERVED",
        });
        return observation(`o/${i}`, [{ ...at, capturedAt: Math.round(at.capturedAt) }]);
      });
      await catalog.record(batch);
      await catalog.pack(1_000);
    }
    const { rows } = await sql<{ bytes: number }>`select sum(length(data)) as bytes from snapshot_blocks
      union all select count(*) from snapshots`.execute(database.read);
    const [bytes = 0, tail = 0] = rows.map((row) => row.bytes);
    // A row of the tail takes 26 bytes on SQLite, and the row of a block 27 beside its data.
    const blocks = Number(bytes) + 27 * repositories;
    const each = (blocks + 26 * Number(tail)) / (90 * repositories);
    assert.ok(each <= 12, `${each.toFixed(1)} bytes`);
  });

  test("that are damaged are refused by the name of their repository, and spoil no other", async () => {
    const { catalog, database } = await openCatalog(engine);
    const days = Array.from({ length: 9 }, (_, i) => snapshot(24 * (9 - i), i));
    await catalog.record([observation("o/good", days), observation("o/bad", days)]);
    await database.write
      .updateTable("snapshot_blocks")
      .set({ snapshots: 8 })
      .where("repository_id", "=", 2)
      .execute();
    await assert.rejects(readSeries(database, 2), /history of repository 2 is damaged/);
    assert.deepEqual((await readSeries(database, 1)).readings.snapshots(), days);
  });
});
