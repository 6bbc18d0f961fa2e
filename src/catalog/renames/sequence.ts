import type { Db, Tx } from "../../database/database.js";

/** A name that is missing from more files than this before another begins does not continue as that one. */
export const MAX_FILES_APART = 3;

/** The files of an archive in order of time, and which of them to look at. */
export interface Sequence {
  /** Times of the undamaged files. */
  times: readonly number[];
  /** Indexes, both included. */
  from: number;
  to: number;
  /** When the last of the new files was imported. */
  importedAt: number;
}

/** What is looked at in one transaction. */
export interface Step {
  now: number;
  source: string;
  /** Times of the undamaged files. */
  times: readonly number[];
  /** Of the file in which names begin. */
  index: number;
}

const markOf = (source: string): string => `renames_detected_${source}`;

/** The files around those imported since the last detection; undefined if there are none. */
export async function readSequence(db: Db, source: string): Promise<Sequence | undefined> {
  const mark = await db
    .selectFrom("marks")
    .select("value")
    .where("name", "=", markOf(source))
    .executeTakeFirst();
  const rows = await db
    .selectFrom("import_files")
    .select(["captured_at", "damage", "imported_at"])
    .where("source", "=", source)
    .orderBy("captured_at")
    .execute();
  // Another file may have been recorded in the same millisecond, so that time is looked at again.
  const added = rows.filter((row) => row.imported_at >= Number(mark?.value ?? 0));
  const [first, last] = [added[0], added.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const undamaged = rows.filter((row) => row.damage === null);
  const times = [...new Set(undamaged.map((row) => row.captured_at))];
  const indexOf = (at: number) => times.findLastIndex((time) => time <= at);
  return {
    times,
    // Names may end in the file before. In the oldest file nothing begins.
    from: Math.max(1, indexOf(first.captured_at) - 1),
    to: Math.min(times.length - 1, indexOf(last.captured_at) + MAX_FILES_APART),
    importedAt: added.reduce((latest, row) => Math.max(latest, row.imported_at), 0),
  };
}

/** Notes that the files imported until then have been looked at. */
export async function setSeen(tx: Tx, source: string, importedAt: number): Promise<void> {
  await tx.deleteFrom("marks").where("name", "=", markOf(source)).execute();
  await tx
    .insertInto("marks")
    .values({ name: markOf(source), value: String(importedAt) })
    .execute();
}
