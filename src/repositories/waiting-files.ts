/**
 * Files of archives as the next ones are judged by them, and those that wait for the next file. Nothing of a waiting file is recorded: its
 * rows are kept in `waiting_rows`, so a process may end between waiting and deciding, and a decision may be made again.
 */
import type { Db, Dialect, Tx } from "../database/database.js";
import { bumpRevision, markOutdated, noteChanges } from "./changes.js";
import {
  type ArchiveFile,
  type Damage,
  fileKey,
  isHeldBack,
  type JudgedFile,
  noteFile,
  ownDamage,
  readFiles,
  recordFiles,
} from "./files.js";
import { restoreCounts } from "./imports.js";
import { nameKey, type Observation } from "./repository.js";
import { removeReadings } from "./snapshots/removal.js";
import { readReadings } from "./snapshots/snapshots.js";

/** Files of each archive that the next one is compared with. */
export const KNOWN_FILES = 8;
/** Rows of a file that others are compared with. */
export const MOST_KNOWN = 20_000;

export type FileIdentity = Pick<ArchiveFile, "source" | "file" | "capturedAt">;

/** The counts of a repository in a file; null if its archive does not report forks. */
export interface RowCounts {
  stars: number;
  forks: number | null;
}

/** Counts by provider and name in lower case, separated by a space; at most MOST_KNOWN. */
export type FileCounts = Map<string, RowCounts>;

export interface KnownFile extends FileIdentity {
  counts: FileCounts;
}

/** A file with the reasons for which it waits or is withdrawn. */
export interface DoubtedFile extends KnownFile {
  damage: readonly Damage[];
}

/** The newest files of an archive that count, oldest first, and the one that waits. */
export interface KnownArchive {
  files: readonly KnownFile[];
  waiting: DoubtedFile | null;
}

/** The known state of archives before an import reads their next files. */
export interface KnownArchives {
  /** Keys of the files whose rows are recorded. */
  recorded: ReadonlySet<string>;
  /** Why files were withdrawn, by their keys. */
  withdrawn: ReadonlyMap<string, readonly Damage[]>;
  archives: ReadonlyMap<string, KnownArchive>;
}

/** Rows of a file that waits. */
export interface WaitingRows {
  file: FileIdentity;
  damage: readonly Damage[];
  /** The number of rows before these. */
  first: number;
  rows: Observation[];
}

/**
 * A file on which a later one has decided. CONFIRMED: it waited, and counts. OUTVOTED: it waited, and does not count. WITHDRAWN: it was
 * recorded, and no longer counts.
 */
export interface SettledFile extends DoubtedFile {
  outcome: "CONFIRMED" | "OUTVOTED" | "WITHDRAWN";
}

/** Adds a row to the counts of a file. Returns false if the file has other stars for the same repository. */
export function addCounts(counts: FileCounts, { provider, owner, name, snapshots }: Observation): boolean {
  const key = `${provider} ${nameKey(owner, name)}`;
  let isSame = true;
  for (const { stars, forks } of snapshots) {
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { stars, forks });
    else if (known.stars !== stars) isSame = false;
  }
  return isSame;
}

/** Reads the newest files of each archive back from the snapshots: two statements for each file. */
export async function readKnownArchives(db: Db, dialect: Dialect): Promise<KnownArchives> {
  const files = await readFiles(db);
  const waitingKeys = await readWaiting(db);
  const recorded = files.filter((file) => !isHeldBack(file));
  const held = files.filter(isHeldBack);
  const archives = new Map<string, KnownArchive>();
  for (const [source, own] of Map.groupBy(files, (file) => file.source)) {
    const counted = new Map(own.filter((file) => !isHeldBack(file)).map((file) => [file.capturedAt, file]));
    const newest = [...counted.values()].sort((a, b) => a.capturedAt - b.capturedAt).slice(-KNOWN_FILES);
    const known: KnownFile[] = [];
    for (const file of newest) {
      const isShared = recorded.some((one) => one.capturedAt === file.capturedAt && one.source !== source);
      known.push({ ...file, counts: await readCounts(db, dialect, { ...file, isShared }) });
    }
    const waits = own.find((file) => waitingKeys.has(fileKey(file)));
    const waiting = waits && { ...waits, counts: await waitingCounts(db, waits) };
    archives.set(source, { files: known, waiting: waiting ?? null });
  }
  const withdrawn = held.filter((file) => !waitingKeys.has(fileKey(file)));
  return {
    recorded: new Set(recorded.map(fileKey)),
    withdrawn: new Map(withdrawn.map((file) => [fileKey(file), file.damage])),
    archives,
  };
}

/**
 * The counts that were imported for the time of a file, of at most MOST_KNOWN repositories. `isShared`: another archive has a file of that
 * time, so only repositories count that this archive reported last.
 */
async function readCounts(
  db: Db,
  dialect: Dialect,
  { source, capturedAt, isShared }: FileIdentity & { isShared: boolean },
): Promise<FileCounts> {
  const repositories = await db
    .selectFrom("repositories")
    .select(["id", "provider", "name_key"])
    .where("import_source", isShared ? "=" : "is not", isShared ? source : null)
    .where("counted_at", ">=", capturedAt)
    .where("name_key", "is not", null)
    .orderBy("id")
    .limit(MOST_KNOWN)
    .execute();
  const ids = repositories.map(({ id }) => id);
  const span = { from: capturedAt, until: capturedAt };
  const readings = await readReadings(db, dialect, { ids, span, onDamaged: () => {} });
  const counts: FileCounts = new Map();
  for (const { id, provider, name_key } of repositories) {
    const own = readings.get(id);
    if (own === undefined || own.length === 0) continue;
    const { stars, forks } = own.snapshot(0);
    counts.set(`${provider} ${name_key}`, { stars, forks });
  }
  return counts;
}

/** Keys of the files that wait. */
export async function readWaiting(db: Db): Promise<Set<string>> {
  const rows = await db
    .selectFrom("waiting_rows")
    .select(["source", "captured_at", "file"])
    .distinct()
    .execute();
  return new Set(
    rows.map(({ source, captured_at, file }) => fileKey({ source, capturedAt: captured_at, file })),
  );
}

async function waitingCounts(db: Db, file: FileIdentity): Promise<FileCounts> {
  const counts: FileCounts = new Map();
  for (let first = 0; counts.size < MOST_KNOWN; ) {
    const rows = await readWaitingRows(db, file, first);
    if (rows === undefined) break;
    for (const row of rows) if (counts.size < MOST_KNOWN) addCounts(counts, row);
    first += rows.length;
  }
  return counts;
}

/** The rows of a waiting file from this one on, as many as were kept together. */
export async function readWaitingRows(
  db: Db,
  { source, capturedAt, file }: FileIdentity,
  first: number,
): Promise<Observation[] | undefined> {
  const row = await db
    .selectFrom("waiting_rows")
    .select("observations")
    .where("source", "=", source)
    .where("captured_at", "=", capturedAt)
    .where("file", "=", file)
    .where("first_row", "=", first)
    .executeTakeFirst();
  return row && (JSON.parse(row.observations) as Observation[]);
}

/** Keeps rows of a file that waits. With the first of them the file is noted, and its earlier rows are replaced. */
export async function keepWaiting(
  tx: Tx,
  dialect: Dialect,
  { file, damage, first, rows, importedAt }: WaitingRows & { importedAt: number },
): Promise<void> {
  if (first === 0) {
    await dropWaiting(tx, file);
    await noteFile(tx, dialect, { ...file, rows: 0, zeros: 0, damage, importedAt });
  }
  await tx
    .insertInto("waiting_rows")
    .values({
      source: file.source,
      captured_at: file.capturedAt,
      file: file.file,
      first_row: first,
      observations: JSON.stringify(rows.map((row) => ({ ...row, snapshots: [...row.snapshots] }))),
    })
    .execute();
}

/** Deletes the rows of a file that waits. */
export async function dropWaiting(tx: Tx, { source, capturedAt, file }: FileIdentity): Promise<void> {
  await tx
    .deleteFrom("waiting_rows")
    .where("source", "=", source)
    .where("captured_at", "=", capturedAt)
    .where("file", "=", file)
    .execute();
}

/** Ends a decision: a confirmed file counts, and a withdrawn one does not. Returns the files whose damage has changed. */
export async function noteSettled(
  tx: Tx,
  dialect: Dialect,
  { outcome, damage, counts, importedAt, source, file, capturedAt }: SettledFile & { importedAt: number },
): Promise<JudgedFile[]> {
  const identity = { source, file, capturedAt };
  const stored = (await readFiles(tx, [source])).find((one) => fileKey(one) === fileKey(identity));
  const noted = stored ?? { ...identity, rows: counts.size, zeros: 0, damage: [], importedAt };
  await dropWaiting(tx, identity);
  if (outcome === "CONFIRMED") return recordFiles(tx, dialect, [{ ...noted, damage: ownDamage(noted) }]);
  if (outcome === "OUTVOTED") return [{ ...noted, isNews: true }];
  const withdrawn = { ...noted, damage: [...noted.damage, ...damage] };
  await noteFile(tx, dialect, withdrawn);
  await bumpRevision(tx);
  return [{ ...withdrawn, isNews: true }];
}

/** Some repositories of a file to withdraw: those after an id, at most this many. */
export interface WithdrawnPart extends KnownFile {
  afterId: number;
  limit: number;
}

/**
 * Removes the readings that a recorded file has brought from some of its repositories; those whose newest counts they were get
 * those of the reading before. A repository without other readings keeps its only one. If another file has the same
 * time, only readings with the counts of this one are removed. Returns the last id; undefined if there were none.
 */
export async function withdrawReadings(
  tx: Tx,
  dialect: Dialect,
  { source, capturedAt, counts, afterId, limit }: WithdrawnPart,
): Promise<number | undefined> {
  const rows = await tx
    .selectFrom("repositories")
    .selectAll()
    .where("import_source", "=", source)
    .where("counted_at", ">=", capturedAt)
    .where("id", ">", afterId)
    .orderBy("id")
    .limit(limit)
    .execute();
  if (rows.length === 0) return undefined;
  const sharing = await tx
    .selectFrom("import_files")
    .select("file")
    .where("captured_at", "=", capturedAt)
    .execute();
  const starsOf = new Map(
    rows.map(({ id, provider, name_key }) => [id, counts.get(`${provider} ${name_key}`)?.stars]),
  );
  const ids = [...starsOf.keys()];
  await removeReadings(tx, dialect, {
    ids,
    span: { from: capturedAt, until: capturedAt, withBaseline: true },
    chosen(all, id) {
      const isRemoved = new Uint8Array(all.length);
      const i = all.countBefore(capturedAt);
      const isImported = all.at(i) === capturedAt && all.snapshot(i).source === "IMPORTED";
      const isOwn = sharing.length <= 1 || all.stars(i) === starsOf.get(id);
      if (isImported && isOwn && all.length > 1) isRemoved[i] = 1;
      return isRemoved;
    },
  });
  const counted = rows.filter(({ counted_at }) => counted_at === capturedAt);
  await restoreCounts(tx, dialect, new Map(counted.map(({ id }) => [id, new Set([capturedAt])])));
  await markOutdated(tx, dialect, { rollups: ids });
  await noteChanges(tx, dialect, ids);
  return ids.at(-1);
}
