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
  type Tx,
} from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { markOutdated, workOff } from "../changes.js";
import type { Snapshot } from "../repository.js";
import { mergeIntoBlocks } from "./blocks.js";
import { HourCounts } from "./hours.js";
import { numbersOf, Readings, readingsOf } from "./readings.js";

export { removeEqual, removeReadings } from "./blocks.js";
export {
  rangeColumn,
  rangeOf,
  readInTurns,
  readReadings,
  readSnapshotRanges,
  type SnapshotRange,
  SnapshotReader,
} from "./read.js";
export { BASES, type Basis, basisOf, byBasis, isSeam, Readings } from "./readings.js";

/** Rows inserted in one statement. */
const CHUNK = 5_000;
/** This many new snapshots of a repository, or more, are written into blocks immediately. */
const BULK_FROM = 4;
/** A tail of this many rows, or more, is marked to be packed. */
const PACK_FROM = 6;

/** Repositories in one transaction, or read at a time. */
const BATCH = 1_000;

const SNAPSHOTS = bulkOf("snapshots");

/** New snapshots of one repository. If two lists have a snapshot of the same time, the earlier list wins. */
export interface SnapshotsOf {
  repositoryId: number;
  provider: string;
  lists: Iterable<Snapshot>[];
}

/** The snapshots that were new, and the repositories they belong to. */
interface Appended {
  snapshots: number;
  repositoryIds: number[];
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
  const repositoryIds = new Set<number>();
  let snapshots = 0;
  const onAdded = (id: number, capturedAt: number) => {
    snapshots++;
    repositoryIds.add(id);
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
  for (const { repositoryId, lists } of given.toSorted((a, b) => a.repositoryId - b.repositoryId)) {
    const own = readingsOf(lists.flatMap((list) => Array.from(list, numbersOf)));
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
  await mergeIntoBlocks(tx, dialect, { given: merging, onAdded });
  await markLongTails(tx, dialect, appending);
  await hours.write(tx, dialect);
  return { snapshots, repositoryIds: [...repositoryIds] };
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
