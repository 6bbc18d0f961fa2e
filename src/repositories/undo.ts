/**
 * Undoes an import: removes the readings that it added and that no other import has reported, and the repositories that have nothing
 * else then. Works through its list from the end, a part in a transaction, so it may be killed and run again.
 */
import { sql } from "kysely";
import type { Database, Db, Dialect, Tx } from "../database/database.js";
import { isoTime } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { markOutdated, noteChanges } from "./changes.js";
import { fileKey, removeFiles } from "./files.js";
import {
  ADDED,
  addListed,
  isAt,
  LISTED_MS,
  type Listed,
  partOf,
  readListed,
  removeAt,
  restoreCounts,
  timeSpan,
} from "./imports.js";
import { removeRepositories } from "./sample.js";
import { readReadings, readSnapshotRanges } from "./snapshots/read.js";

/** A run of the command that imports files. Times in ms since 1970. */
export interface ImportRow {
  id: number;
  /** Names of at most ten files, without folders. */
  files: readonly string[];
  fileCount: number;
  /** Names of formats. */
  sources: readonly string[];
  rows: number;
  /** Repositories and readings that it added, and readings that it replaced. */
  repositories: number;
  readings: number;
  replaced: number;
  /** Times of the first and the last reading; null: none. */
  fromAt: number | null;
  untilAt: number | null;
  beganAt: number;
  /** null: it runs, or was interrupted. */
  endedAt: number | null;
  importedBy: string;
  undoBeganAt: number | null;
  undoneAt: number | null;
}

/** All imports, the newest first. */
export async function listImports(db: Db): Promise<ImportRow[]> {
  const rows = await db.selectFrom("imports").selectAll().orderBy("id", "desc").execute();
  return rows.map((row) => ({
    id: row.id,
    files: JSON.parse(row.files),
    fileCount: row.file_count,
    sources: row.sources === "" ? [] : row.sources.split(","),
    rows: row.row_count,
    repositories: row.repositories,
    readings: row.readings,
    replaced: row.replaced,
    fromAt: row.from_at,
    untilAt: row.until_at,
    beganAt: row.began_at,
    endedAt: row.ended_at,
    importedBy: row.imported_by,
    undoBeganAt: row.undo_began_at,
    undoneAt: row.undone_at,
  }));
}

/** The effect of undoing an import. */
export interface Undoing {
  row: ImportRow;
  /** Readings that go, and those that stay, as another import has reported them too. */
  readings: number;
  kept: number;
  /** Repositories that go, as nothing else is known of them. */
  repositories: number;
}

/** Finds out what undoing an import would do. Throws NOT_FOUND, or CONFLICT if it cannot be undone. */
export async function planUndo(
  { write: db, dialect }: Pick<Database, "write" | "dialect">,
  id: number,
  now: number,
): Promise<Undoing> {
  const row = (await listImports(db)).find((one) => one.id === id);
  if (row === undefined) throw new AppError("NOT_FOUND", `There is no import ${id}.`);
  if (row.undoneAt !== null)
    throw new AppError("CONFLICT", `Import ${id} was undone at ${isoTime(row.undoneAt)}.`);
  if (row.beganAt <= now - LISTED_MS)
    throw new AppError(
      "CONFLICT",
      `The list of what import ${id} added was kept for 30 days: restore a backup from before ${isoTime(row.beganAt)}.`,
    );
  const going = new Map<number, number>();
  const candidates = new Set<number>();
  const plan: Undoing = { row, readings: 0, kept: 0, repositories: 0 };
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const part = await readPart(db, dialect, { id, before });
    if (part === undefined) break;
    before = part.part;
    plan.kept += countAdded(part.kept);
    const ids = [...part.readings.keys()];
    const stored = await readReadings(db, dialect, { ids, span: timeSpan(part.readings.values()) });
    for (const [own, all] of stored) {
      let count = 0;
      for (let i = 0; i < all.length; i++)
        if (isAt(all, i, part.readings.get(own), part.histories.has(own))) count++;
      plan.readings += count;
      going.set(own, (going.get(own) ?? 0) + count);
    }
    for (const own of part.repositories) candidates.add(own);
  }
  plan.repositories = (await withoutMore(db, dialect, { id, ids: [...candidates], going })).length;
  return plan;
}

function countAdded(list: Listed): number {
  let count = 0;
  for (const times of list.values()) for (const bits of times.values()) if (bits & ADDED.reading) count++;
  return count;
}

/** Marks the import as being undone, in its own transaction, and forgets files of archives that no other import has read. */
export async function beginUndo(tx: Tx, dialect: Dialect, id: number, now: number): Promise<void> {
  await tx
    .updateTable("imports")
    .set({ undo_began_at: now })
    .where("id", "=", id)
    .where("undo_began_at", "is", null)
    .execute();
  const rows = await tx
    .selectFrom("imported_files as f")
    .innerJoin("imports as i", "i.id", "f.import_id")
    .select(["f.source", "f.captured_at as capturedAt", "f.file", "i.undo_began_at"])
    .execute();
  const live = new Set(rows.filter((row) => row.undo_began_at === null).map(fileKey));
  const own = await tx
    .selectFrom("imported_files")
    .select(["source", "captured_at as capturedAt", "file"])
    .where("import_id", "=", id)
    .execute();
  await removeFiles(
    tx,
    dialect,
    own.filter((file) => !live.has(fileKey(file))),
  );
}

/** Undoes the last part of an import before one. Returns its number; undefined: nothing is left. */
export async function undoPart(
  tx: Tx,
  dialect: Dialect,
  { id, before, now }: { id: number; before: number; now: number },
): Promise<number | undefined> {
  const found = await readPart(tx, dialect, { id, before });
  if (found === undefined) return undefined;
  const { part, kept, readings, counts, histories, repositories } = found;
  await removeAt(tx, dialect, readings, histories);
  await restoreCounts(tx, dialect, counts);
  const ids = [...new Set([...readings.keys(), ...counts.keys()])];
  await forgetArchives(tx, dialect, ids);
  const removed = await withoutMore(tx, dialect, { id, ids: repositories });
  await removeRepositories(tx, dialect, removed, now);
  const here = tx.updateTable("import_lists").set(partOf(kept)).where("import_id", "=", id);
  await here.where("part", "=", part).execute();
  const gone = new Set(removed);
  const changed = ids.filter((own) => !gone.has(own));
  await markOutdated(tx, dialect, { rollups: changed });
  await noteChanges(tx, dialect, changed);
  return part;
}

/** Notes that nothing of an import is left to undo. */
export async function endUndo(tx: Tx, id: number, now: number): Promise<void> {
  // An hour without readings has no newest one.
  await tx.deleteFrom("snapshot_hours").where("snapshots", "=", 0).execute();
  await tx.updateTable("imports").set({ undone_at: now }).where("id", "=", id).execute();
}

/** A part of a list, by what becomes of it. */
interface Part {
  part: number;
  /** Entries that another import has too. */
  kept: Listed;
  /** Times of readings to remove, and of counts that are no longer those of their repositories. */
  readings: Map<number, Set<number>>;
  counts: Map<number, Set<number>>;
  /** Repositories whose star history a forge was asked for, which may have confirmed it. */
  histories: Set<number>;
  /** Repositories that the import added. */
  repositories: number[];
}

async function readPart(
  db: Db,
  dialect: Dialect,
  { id, before }: { id: number; before: number },
): Promise<Part | undefined> {
  const row = await db
    .selectFrom("import_lists")
    .selectAll()
    .where("import_id", "=", id)
    .where("part", "<", before)
    .orderBy("part", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const span = { from: row.from_at, until: row.until_at };
  const live = await readListed(db, span, (all) =>
    all.where("i.id", "<>", id).where("i.undo_began_at", "is", null),
  );
  const undone = await readListed(db, span, (all) =>
    all.where("i.id", "<>", id).where("i.undo_began_at", "is not", null),
  );
  const list: Listed = new Map();
  addListed(list, row);
  const [kept, readings, counts]: [Listed, Part["readings"], Part["counts"]] = [
    new Map(),
    new Map(),
    new Map(),
  ];
  const repositories = new Set<number>();
  for (const [own, times] of list)
    for (const [at, ownBits] of times) {
      const bits = ownBits | (undone.get(own)?.get(at) ?? 0);
      if (bits & ADDED.repository) repositories.add(own);
      if (live.get(own)?.has(at)) kept.set(own, (kept.get(own) ?? new Map()).set(at, bits));
      else {
        if (bits & ADDED.reading) addTime(readings, own, at);
        if (bits & (ADDED.reading | ADDED.counts)) addTime(counts, own, at);
      }
    }
  await followRenames(db, dialect, [readings, counts]);
  const tracked = await db
    .selectFrom("tracking")
    .select("repository_id")
    .where("history_cursor", "is not", null)
    .where(dialect.among(sql.ref("repository_id"), [...readings.keys()]))
    .execute();
  const histories = new Set(tracked.map((one) => one.repository_id));
  return { part: row.part, kept, readings, counts, histories, repositories: [...repositories] };
}

function addTime(times: Map<number, Set<number>>, id: number, at: number): void {
  const own = times.get(id);
  if (own === undefined) times.set(id, new Set([at]));
  else own.add(at);
}

/** Adds the copies of readings that went to another name, unless that had one of its own at the time. */
async function followRenames(
  db: Db,
  dialect: Dialect,
  [readings, counts]: readonly [Part["readings"], Part["counts"]],
): Promise<void> {
  for (let ids = [...readings.keys()]; ids.length > 0; ) {
    const rows = await db
      .selectFrom("renames")
      .select(["from_id", "to_id", "both_at"])
      .where(dialect.among(sql.ref("from_id"), ids))
      .execute();
    for (const { from_id, to_id, both_at } of rows) {
      const both = new Set<number>(JSON.parse(both_at));
      for (const at of readings.get(from_id) ?? [])
        if (!both.has(at)) for (const times of [readings, counts]) addTime(times, to_id, at);
    }
    ids = rows.map(({ to_id }) => to_id);
  }
}

/** Repositories are no longer of an archive without a reading of one of its files. */
async function forgetArchives(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  const rows = await tx
    .selectFrom("repositories")
    .select(["id", "import_source"])
    .where("import_source", "is not", null)
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  const files = await tx.selectFrom("import_files").select(["source", "captured_at"]).execute();
  const times = new Set(files.map(({ source, captured_at }) => `${source} ${captured_at}`));
  const of = rows.map(({ id }) => id);
  const readings = await readReadings(tx, dialect, { ids: of, width: 1, onDamaged: () => {} });
  const lost = rows.filter(({ id, import_source }) => {
    const own = readings.get(id);
    for (let i = 0; i < (own?.length ?? 0); i++)
      if (times.has(`${import_source} ${own?.at(i)}`)) return false;
    return true;
  });
  if (lost.length === 0) return;
  const here = dialect.among(
    sql.ref("id"),
    lost.map(({ id }) => id),
  );
  await tx.updateTable("repositories").set({ import_source: null }).where(here).execute();
}

interface Candidates {
  /** The import that added them. */
  id: number;
  ids: readonly number[];
  /** The readings of each that will be removed. */
  going?: ReadonlyMap<number, number>;
}

/** Those of the repositories that have no other reading, no list, no request and no schedule, and are in no other import. */
async function withoutMore(
  db: Db,
  dialect: Dialect,
  { id, ids, going = new Map() }: Candidates,
): Promise<number[]> {
  if (ids.length === 0) return [];
  const among = (column: string) => dialect.among(sql.ref(column), ids);
  const { rows } = await sql<{ id: number }>`
    select repository_id as id from watchlist_items where ${among("repository_id")}
    union select repository_id from wanted where ${among("repository_id")}
    union select repository_id from hidden_repositories where ${among("repository_id")}
    union select repository_id from tracking where ${among("repository_id")}
    union select from_id from renames where ${among("from_id")}
    union select to_id from renames where ${among("to_id")}`.execute(db);
  const ranges = await readSnapshotRanges(db, dialect, ids);
  const left = new Set(ids);
  for (const row of rows) left.delete(Number(row.id));
  for (const [own, { snapshots }] of ranges) if (snapshots > (going.get(own) ?? 0)) left.delete(own);
  const others = await db
    .selectFrom("import_lists as l")
    .innerJoin("imports as i", "i.id", "l.import_id")
    .select(["l.entries", "l.import_id", "l.part"])
    .where("i.id", "<>", id)
    .where("i.undo_began_at", "is", null)
    .execute();
  for (const { entries, import_id, part } of others) {
    if (left.size === 0) break;
    const { data } = await db
      .selectFrom("import_lists")
      .select("data")
      .where("import_id", "=", import_id)
      .where("part", "=", part)
      .executeTakeFirstOrThrow();
    const list: Listed = new Map();
    addListed(list, { entries, data });
    for (const own of list.keys()) left.delete(own);
  }
  return [...left];
}

/** Deletes the lists of imports that are too old to be undone. Returns the number of imports. */
export async function pruneImportLists({ write }: Pick<Database, "write">, now: number): Promise<number> {
  const old = sql<boolean>`import_id in (select id from imports where began_at <= ${now - LISTED_MS})`;
  await write.deleteFrom("imported_files").where(old).execute();
  const { numDeletedRows } = await write.deleteFrom("import_lists").where(old).executeTakeFirst();
  return Number(numDeletedRows);
}
