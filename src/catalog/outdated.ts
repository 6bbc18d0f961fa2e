import { sql } from "kysely";
import type { Clock } from "../clock.js";
import {
  BatchSize,
  type BulkRow,
  type BulkTable,
  type Database,
  type Db,
  type Dialect,
  type Tx,
} from "../database/database.js";
import type { Run } from "./exclusive-run.js";

/**
 * Derived data of a repository: its words in the search index, its growth, or its ranks and share of the facets (id 0: those
 * of all repositories). `rollups_in_rebuild`: growth that was updated while
 * that of all repositories is being rebuilt. `rollups_damaged`: growth that cannot be computed until the history is repaired.
 * `words_in_rebuild`: words that a rebuild in progress updates.
 * `tails`: snapshots that are to be packed into blocks.
 */
export type OutdatedKind =
  | "words"
  | "rollups"
  | "ranks"
  | "rollups_in_rebuild"
  | "rollups_damaged"
  | "words_in_rebuild"
  | "tails";

const OUTDATED: BulkTable = {
  table: "outdated",
  columns: { kind: "text", repository_id: "bigint" },
  key: ["kind", "repository_id"],
};

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

/** Marks deleted in one transaction of `clearMarks`. */
const CLEARED = 5_000;

/** Deletes all marks of some kinds, in steps of a run that then does all of their work. Later marks are changes it may miss. */
export async function clearMarks(run: Run, dialect: Dialect, kinds: readonly OutdatedKind[]): Promise<void> {
  for (const kind of kinds) {
    for (let cleared = CLEARED; cleared === CLEARED; ) {
      cleared = await run.step(async (tx) => {
        const rows = await tx
          .selectFrom("outdated")
          .select("repository_id")
          .where("kind", "=", kind)
          .limit(CLEARED)
          .execute();
        const here = dialect.among(
          sql.ref("repository_id"),
          rows.map((row) => row.repository_id),
        );
        await tx.deleteFrom("outdated").where("kind", "=", kind).where(here).execute();
        return rows.length;
      });
    }
  }
}

/** The smallest batch, as a part of the largest one: some of the time of a batch does not depend on its size. */
const LEAST_PART = 8;

export interface WorkOptions {
  kind: OutdatedKind;
  clock: Clock;
  /** Most repositories per transaction. */
  size: number;
  /** Repositories in all; default: no limit. */
  most?: number;
  /** Whether readers notice the work, so that it changes the revision; default true. */
  isNoticed?: boolean;
  /** Gets the number of repositories updated so far after each transaction. */
  onProgress?: (done: number) => void;
}

/**
 * Updates outdated data of one kind in batches. A mark is deleted in the transaction of its work, so a crash loses neither.
 * Returns the number of repositories updated.
 */
export async function workOff(
  { dialect, write }: Database,
  {
    kind,
    clock,
    size,
    most = Number.POSITIVE_INFINITY,
    isNoticed = true,
    onProgress = () => {},
  }: WorkOptions,
  work: (tx: Tx, ids: readonly number[]) => Promise<void>,
): Promise<number> {
  const batch = new BatchSize(dialect, { least: Math.ceil(size / LEAST_PART), most: size });
  for (let done = 0; ; onProgress(done)) {
    if (done >= most) return done;
    const count = await dialect.exclusively(write, "catalogue", async (tx) => {
      const began = clock.monotonic();
      const marked = await tx
        .selectFrom("outdated")
        .select("repository_id")
        .where("kind", "=", kind)
        .orderBy("repository_id")
        .limit(Math.min(batch.rows, most - done))
        .execute();
      if (marked.length === 0) return 0;
      const ids = marked.map((row) => row.repository_id);
      await work(tx, ids);
      const here = dialect.among(sql.ref("repository_id"), ids);
      await tx.deleteFrom("outdated").where("kind", "=", kind).where(here).execute();
      if (isNoticed) await bumpRevision(tx);
      batch.note(ids.length, clock.monotonic() - began);
      return ids.length;
    });
    if (count === 0) return done;
    done += count;
  }
}

/** Sets a mark of the database as a whole. */
export async function setMark(tx: Tx, name: string): Promise<void> {
  await sql`insert into marks (name, value) values (${name}, 'true') on conflict do nothing`.execute(tx);
}

export async function hasMark(db: Db, name: string): Promise<boolean> {
  const row = await db.selectFrom("marks").select("value").where("name", "=", name).executeTakeFirst();
  return row !== undefined;
}

/** Announces a change to the readers in every process. */
export async function bumpRevision(tx: Tx): Promise<void> {
  await sql`update revision set value = value + 1 where id = 1`.execute(tx);
}
