/** The traces of a change for others: marks on derived data that must be updated, and the log of changes that readers follow. */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import {
  BatchSize,
  type BulkRow,
  bulkOf,
  type Database,
  type Dialect,
  type Tx,
} from "../database/database.js";
import { type Clock, DAY_MS } from "../lib/clock.js";

/** Derived data of a repository: its growth (`rollups`), or snapshots to pack into blocks (`tails`). */
type OutdatedKind = "rollups" | "tails";

const OUTDATED = bulkOf("outdated");

/** Marks derived data of repositories as outdated, in the transaction of the change. */
export async function markOutdated(
  tx: Tx,
  dialect: Dialect,
  marked: Partial<Readonly<Record<OutdatedKind, Iterable<number>>>>,
): Promise<void> {
  const rows = Object.entries(marked).flatMap(([kind, ids]) =>
    Array.from(new Set(ids), (id): BulkRow => [kind, id]),
  );
  await dialect.insertNew(tx, OUTDATED, rows);
}

/** Deletes marks, in the transaction of their work. */
export async function unmark(
  tx: Tx,
  dialect: Dialect,
  kind: OutdatedKind,
  ids: readonly number[],
): Promise<void> {
  const here = dialect.among(sql.ref("repository_id"), ids);
  await tx.deleteFrom("outdated").where("kind", "=", kind).where(here).execute();
}

/** Runs work in a transaction that locks the catalogue. */
export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** For work that any process may do. */
export function exclusively({ dialect, write }: Pick<Database, "dialect" | "write">): Transact {
  return (work) => dialect.exclusively(write, "catalogue", work);
}

/** The largest batch divided by the smallest: part of the time of a batch does not depend on its size. */
const LEAST_PART = 8;

interface BatchOptions {
  clock: Clock;
  /** Maximum number of repositories in one transaction. */
  size: number;
  /** Maximum number of repositories in all; default: no limit. */
  most?: number;
  transact?: Transact;
  /** Called after each transaction with the number of repositories done so far. */
  onProgress?: (done: number) => void;
}

/** A batch: its repositories, and those of them that have changed for readers. */
interface Batch {
  ids: readonly number[];
  changed: readonly number[];
}

/**
 * Works in batches, each in a transaction that is as long as other writers can wait. `work` gets the maximum number of repositories; an
 * empty batch is the end. Returns the number of repositories.
 */
export async function inBatches(
  database: Database,
  {
    clock,
    size,
    most = Number.POSITIVE_INFINITY,
    transact = exclusively(database),
    onProgress = () => {},
  }: BatchOptions,
  work: (tx: Tx, limit: number) => Promise<Batch>,
): Promise<number> {
  const { dialect } = database;
  const batchSize = new BatchSize(dialect, { least: Math.ceil(size / LEAST_PART), most: size });
  for (let done = 0; ; onProgress(done)) {
    if (done >= most) return done;
    const count = await transact(async (tx) => {
      const began = clock.monotonic();
      const { ids, changed } = await work(tx, Math.min(batchSize.rows, most - done));
      if (changed.length > 0) await noteChanges(tx, dialect, changed);
      batchSize.note(ids.length, clock.monotonic() - began);
      return ids.length;
    });
    if (count === 0) return done;
    done += count;
  }
}

/**
 * Updates outdated data of one kind in batches. A mark is deleted in the transaction of its work, so a crash loses neither. `work`
 * returns the repositories that have changed for readers. Returns the number of repositories updated.
 */
export function workOff(
  database: Database,
  { kind, ...options }: BatchOptions & { kind: OutdatedKind },
  work: (tx: Tx, ids: readonly number[]) => Promise<readonly number[]>,
): Promise<number> {
  return inBatches(database, options, async (tx, limit) => {
    const marked = await tx
      .selectFrom("outdated")
      .select("repository_id")
      .where("kind", "=", kind)
      .orderBy("repository_id")
      .limit(limit)
      .execute();
    const ids = marked.map((row) => row.repository_id);
    if (ids.length === 0) return { ids, changed: [] };
    const changed = await work(tx, ids);
    await unmark(tx, database.dialect, kind, ids);
    return { ids, changed };
  });
}

/** The document with the progress of the sweep that updates all growth after a full day. */
export const GROWTH_SWEEP = "growth_sweep";

/** In the log of changes, the id that means all repositories. No repository has it. */
export const ALL_CHANGED = 0;
/** The id of the revision up to which removed repositories are forgotten. */
export const FORGOTTEN = -1;
/** In a transaction that changes the catalogue, the revision that it leads to, before it is announced. */
export const NEXT_REVISION = sql<number>`(select value + 1 from revision where id = 1)`;
/** More changes than this at a time are noted as a change of all. */
const MOST_NOTED = 50_000;

const CHANGES = {
  ...bulkOf("changes"),
  sets: "revision = excluded.revision, removed_at = excluded.removed_at",
};

/** Length of the random mark of a revision, and the number of revisions that have one: at least those of the last seconds. */
export const MARK = 4;
export const MARKED = 400;

/** Announces a change that is not of single repositories. Returns the revision that it leads to. */
export async function bumpRevision(tx: Tx): Promise<number> {
  const mark = randomBytes(3).toString("base64url");
  const { rows } = await sql<{ value: number }>`update revision set value = value + 1,
    marks = substr(cast(${mark} as text) || marks, 1, ${sql.lit(MARK * MARKED)}) where id = 1 returning value`.execute(
    tx,
  );
  return rows[0]?.value ?? 0;
}

/** Announces changes to readers in every process, in the same transaction. The log holds the last change of each. */
export async function noteChanges(tx: Tx, dialect: Dialect, ids: Iterable<number>): Promise<void> {
  await note(tx, dialect, new Set(ids), null);
}

/** Announces that repositories were deleted, in the same transaction. `removedAt`: now. */
export async function noteRemoved(
  tx: Tx,
  dialect: Dialect,
  ids: readonly number[],
  removedAt: number,
): Promise<void> {
  await note(tx, dialect, new Set(ids), removedAt);
}

async function note(
  tx: Tx,
  dialect: Dialect,
  ids: ReadonlySet<number>,
  removedAt: number | null,
): Promise<void> {
  const revision = await bumpRevision(tx);
  const rows =
    ids.size > MOST_NOTED
      ? [[ALL_CHANGED, revision, revision, null]]
      : Array.from(ids, (id): BulkRow => [id, revision, revision, removedAt]);
  await dialect.merge(tx, CHANGES, rows);
}

/** How long the log names a deleted repository. */
const REMEMBERED_MS = 400 * DAY_MS;
/** Deleted repositories forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 10_000;

/** Forgets repositories that were deleted long ago: positions in the log from before are refused from then on. Returns their number. */
export function forgetRemoved({ dialect, write }: Database, now: number): Promise<number> {
  const old = sql`removed_at < ${now - REMEMBERED_MS}`;
  return dialect.exclusively(write, "catalogue", async (tx) => {
    const { rows } = await sql<{
      id: number;
      revision: number;
    }>`select repository_id as id, revision from changes
      where ${old} order by revision limit ${FORGOTTEN_AT_ONCE}`.execute(tx);
    if (rows.length === 0) return 0;
    const ids = rows.map(({ id }) => Number(id));
    await sql`delete from changes where ${dialect.among(sql.ref("repository_id"), ids)}`.execute(tx);
    await dialect.merge(tx, CHANGES, [[FORGOTTEN, Number(rows.at(-1)?.revision), 0, null]]);
    // Followers that are up to date continue from a later one.
    await bumpRevision(tx);
    return rows.length;
  });
}

/** Marks all growth to be computed again by the next update. */
export async function outdateAll(tx: Tx, dialect: Dialect): Promise<void> {
  await tx.deleteFrom("status_documents").where("name", "=", GROWTH_SWEEP).execute();
  await noteChanges(tx, dialect, [ALL_CHANGED]);
}
