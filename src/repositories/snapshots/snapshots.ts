/**
 * The snapshots of all repositories. Each repository has blocks of consecutive snapshots, encoded in a few bytes each, and a
 * tail of at most a few later ones in rows. This folder is the only code that reads or writes either table. It guarantees one
 * snapshot per repository and time, that the first one stays, and that the counts per hour match. The meaning of an observation is
 * up to `record.ts`.
 */
import { sql } from "kysely";
import {
  type BulkRow,
  bulkOf,
  type Database,
  type Db,
  type Dialect,
  type MergedTable,
  type Tx,
} from "../../database/database.js";
import { type Clock, HOUR_MS } from "../../lib/clock.js";
import { markOutdated, workOff } from "../changes.js";
import { mergeIntoBlocks } from "./blocks.js";
import { readReadings } from "./read.js";
import { type BlockRow, DamagedBlock, decodeBlock, lengthOf, Readings } from "./readings.js";

export {
  rangeColumn,
  rangeOf,
  readReadings,
  readSnapshotRanges,
  type SnapshotRange,
  turnsOf,
} from "./read.js";
export { BASES, type Basis, basisOf, isSeam, Readings } from "./readings.js";

/** Rows inserted in one statement. */
const CHUNK = 5_000;
/** This many new snapshots of a repository, or more, are written into blocks immediately. */
const BULK_FROM = 4;
/** A tail of this many rows, or more, is marked to be packed. */
const PACK_FROM = 6;

/** Rows read at a time, and repositories in one transaction. */
const BATCH = 1_000;

const SNAPSHOTS = bulkOf("snapshots");

const HOURS: MergedTable = {
  table: "snapshot_hours",
  columns: { provider: "text", hour: "bigint", snapshots: "bigint", newest_at: "bigint" },
  key: ["provider", "hour"],
  sets: `snapshots = snapshot_hours.snapshots + excluded.snapshots,
    newest_at = case when excluded.newest_at > snapshot_hours.newest_at then excluded.newest_at
      else snapshot_hours.newest_at end`,
};

/** Counts snapshots that are added or removed, by provider and hour. */
export class HourCounts {
  readonly #counts = new Map<
    string,
    { provider: string; hour: number; snapshots: number; newestAt: number }
  >();

  add(provider: string, capturedAt: number): void {
    const count = this.#count(provider, capturedAt);
    count.snapshots++;
    count.newestAt = Math.max(count.newestAt, capturedAt);
  }

  remove(provider: string, capturedAt: number): void {
    this.#count(provider, capturedAt).snapshots--;
  }

  #count(provider: string, capturedAt: number): { snapshots: number; newestAt: number } {
    const hour = Math.floor(capturedAt / HOUR_MS);
    const key = `${provider} ${hour}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      // Times of removed snapshots do not count, so this is below any time.
      count = { provider, hour, snapshots: 0, newestAt: 0 };
      this.#counts.set(key, count);
    }
    return count;
  }

  /** Adds the counts to the stored ones. */
  async write(tx: Tx, dialect: Dialect): Promise<void> {
    const rows = [...this.#counts.values()].map(({ provider, hour, snapshots, newestAt }) => {
      return [provider, hour, snapshots, newestAt];
    });
    await dialect.merge(tx, HOURS, rows);
  }
}

/** New snapshots of one repository. */
export interface SnapshotsOf {
  repositoryId: number;
  provider: string;
  readings: Readings;
}

/** The number of snapshots that were new, and their times by repository. */
interface Appended {
  snapshots: number;
  added: ReadonlyMap<number, readonly number[]>;
}

/**
 * Appends the snapshots that do not exist yet and counts them by hour. Existing ones never change. A few snapshots that are
 * later than all blocks of their repository are added to its tail; many, or late ones, are merged into the blocks, so a tail
 * is always later than the blocks.
 */
export async function appendSnapshots(
  tx: Tx,
  dialect: Dialect,
  given: readonly SnapshotsOf[],
): Promise<Appended> {
  const hours = new HourCounts();
  const providers = new Map(given.map(({ repositoryId, provider }) => [repositoryId, provider]));
  const added = new Map<number, number[]>();
  let snapshots = 0;
  const onAdded = (id: number, capturedAt: number) => {
    snapshots++;
    const times = added.get(id);
    if (times === undefined) added.set(id, [capturedAt]);
    else times.push(capturedAt);
    hours.add(providers.get(id) ?? "", capturedAt);
  };
  const blocksEnd = await readBlocksEnd(tx, dialect, [...providers.keys()]);
  let rows: BulkRow[] = [];
  const flush = async () => {
    const inserted = await dialect.insertReporting(tx, SNAPSHOTS, rows);
    for (const [i, [id, at]] of rows.entries()) if (inserted[i]) onAdded(Number(id), Number(at));
    rows = [];
  };
  const merging = new Map<number, Readings>();
  const appending: number[] = [];
  // In key order, because neighbouring keys share database pages.
  for (const { repositoryId, readings: own } of given.toSorted((a, b) => a.repositoryId - b.repositoryId)) {
    if (own.length === 0) continue;
    if (own.length >= BULK_FROM || own.at(0) <= (blocksEnd.get(repositoryId) ?? Number.NEGATIVE_INFINITY)) {
      merging.set(repositoryId, own);
      continue;
    }
    appending.push(repositoryId);
    for (let i = 0; i < own.length; i++) {
      const count = (column: number) => own.count(i, column);
      rows.push([repositoryId, own.at(i), own.stars(i), count(2), count(3), count(4), own.value(i, 5)]);
    }
    if (rows.length >= CHUNK) await flush();
  }
  await flush();
  if (merging.size > 0) await mergeIntoBlocks(tx, dialect, { given: merging, onAdded });
  await markLongTails(tx, dialect, appending);
  await hours.write(tx, dialect);
  return { snapshots, added };
}

/** The time of the last snapshot in blocks, by repository. */
async function readBlocksEnd(db: Db, dialect: Dialect, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom("snapshot_blocks")
    .select(({ fn }) => ["repository_id", fn.max("to_at").as("end_at")])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .groupBy("repository_id")
    .execute();
  return new Map(rows.map((row) => [row.repository_id, Number(row.end_at)]));
}

async function markLongTails(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx
    .selectFrom("snapshots")
    .select("repository_id")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .groupBy("repository_id")
    .having(({ fn }) => fn.countAll(), ">=", PACK_FROM)
    .execute();
  const long = rows.map((row) => row.repository_id);
  await markOutdated(tx, dialect, { tails: long });
}

/** Packs long tails of at most `most` repositories into blocks, unnoticed by readers. May be killed. Returns their number. */
export async function packTails(database: Database, clock: Clock, most: number): Promise<number> {
  const { dialect } = database;
  return workOff(database, { kind: "tails", clock, size: BATCH, most }, async (tx, ids) => {
    const given = new Map(ids.map((id) => [id, Readings.ofLength(0)]));
    await mergeIntoBlocks(tx, dialect, { given });
    return [];
  });
}

/** Time of the newest snapshot of all; null without any. */
export async function newestSnapshot(db: Db): Promise<number | null> {
  const { newest } = await db
    .selectFrom("snapshot_hours")
    .select(({ fn }) => fn.max("newest_at").as("newest"))
    .executeTakeFirstOrThrow();
  return newest === null ? null : Number(newest);
}

/**
 * The last time up to `to` before which at most a share of all snapshots was taken since `from`; all three are multiples of `step`, in
 * ms. The first step with snapshots is always passed.
 */
export async function endOfShare(
  db: Db,
  { from, to, step, share }: { from: number; to: number; step: number; share: number },
): Promise<number> {
  const own = sql.lit(step / HOUR_MS);
  const { rows } = await sql<{ own: number | string; snapshots: number | string }>`
    select hour / ${own} as own, sum(snapshots) as snapshots from snapshot_hours
    where snapshots > 0 group by hour / ${own} order by 1`.execute(db);
  const steps = rows.map((row) => ({ at: Number(row.own) * step, snapshots: Number(row.snapshots) }));
  let left = share * steps.reduce((sum, { snapshots }) => sum + snapshots, 0);
  let isFirst = true;
  for (const { at, snapshots } of steps) {
    if (at < from) continue;
    if (at >= to) break;
    left -= snapshots;
    if (left < 0 && !isFirst) return at;
    isFirst = false;
  }
  return to;
}

/** Decodes every block. Reports those that are damaged, and those that overlap with the block before or with later rows. */
export async function checkHistories(
  db: Db,
  onDamage: (kind: "block-damaged" | "history-overlaps", found: string) => void,
): Promise<void> {
  let before: BlockRow | undefined;
  for (;;) {
    const { rows } = await sql<BlockRow>`select repository_id as "repositoryId", from_at as "fromAt",
        to_at as "toAt", snapshots, data from snapshot_blocks
      where (repository_id, from_at) > (${before?.repositoryId ?? 0}, ${before?.fromAt ?? 0})
      order by repository_id, from_at limit ${sql.lit(BATCH)}`.execute(db);
    if (rows.length === 0) break;
    for (const block of rows) {
      try {
        decodeBlock(block, Readings.ofLength(lengthOf(block)));
      } catch (error) {
        if (!(error instanceof DamagedBlock)) throw error;
        onDamage("block-damaged", error.message);
      }
      if (before?.repositoryId === block.repositoryId && block.fromAt <= before.toAt)
        onDamage(
          "history-overlaps",
          `repository ${block.repositoryId}, block that begins at ${block.fromAt}`,
        );
      before = block;
    }
  }
  const { rows } = await sql<{ id: number }>`select distinct s.repository_id as id from snapshots s
    join snapshot_blocks b on b.repository_id = s.repository_id and b.to_at >= s.captured_at`.execute(db);
  for (const { id } of rows)
    onDamage("history-overlaps", `repository ${id}, snapshots before the end of its blocks`);
}

/** Counts snapshots per provider and hour again, given all repositories with any. Damaged histories are left out. */
export async function recountHours(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("snapshot_hours").execute();
  const hours = new HourCounts();
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH);
    const owners = await tx
      .selectFrom("repositories")
      .select(["id", "provider"])
      .where(dialect.among(sql.ref("id"), batch))
      .execute();
    const readings = await readReadings(tx, dialect, { ids: batch, width: 1, onDamaged: () => {} });
    for (const { id, provider } of owners) {
      const own = readings.get(id);
      for (let i = 0; i < (own?.length ?? 0); i++) hours.add(provider, own?.at(i) ?? 0);
    }
  }
  await hours.write(tx, dialect);
}
