import { sql } from "kysely";
import { type BulkRow, bulkOf, type Db, type Dialect, type Tx } from "../database/database.js";
import { isoTime } from "../lib/clock.js";
import { bumpRevision } from "./changes.js";
import type { DamageKind } from "./record-rules.js";
import { median } from "./series.js";

/** Damage of a file, with the numbers that show it. */
export interface Damage {
  kind: DamageKind;
  reason: string;
}

/** A file of an archive, as an import has read it. */
export interface ArchiveFile {
  /** The archive, by the name of its layout. */
  source: string;
  /** Its name, without folders and the suffix of its compression. */
  file: string;
  /** The time of its newest row. */
  capturedAt: number;
  /** Rows that could be read. */
  rows: number;
  /** Rows with 0 stars or 0 forks. */
  zeros: number;
  damage: readonly Damage[];
}

/** Kinds that depend on the other files of the archive, so that each new file may change them. */
const COMPARED: ReadonlySet<DamageKind> = new Set(["FEW_ROWS", "ZEROS", "SAME_TIME"]);
/** Kinds of damage after which the number of rows says nothing about the archive. */
const INCOMPLETE: ReadonlySet<DamageKind> = new Set(["CUT_OFF", "UNREADABLE", "HEADER_ONLY"]);

/** Kinds for which a file is held back, waiting or withdrawn: none of its rows is recorded. */
const HELD_BACK: ReadonlySet<DamageKind> = new Set(["CONFLICTS", "REPEATED", "OLDER", "JUMPS"]);

/** Whether none of the rows of a file is recorded, until the next file or an operator accepts it. */
export function isHeldBack({ damage }: Pick<ArchiveFile, "damage">): boolean {
  return damage.some(({ kind }) => HELD_BACK.has(kind));
}

/** The damage for which a file is not held back. */
export function ownDamage({ damage }: Pick<ArchiveFile, "damage">): Damage[] {
  return damage.filter(({ kind }) => !HELD_BACK.has(kind));
}

/** Files on each side that a file is compared with. */
const NEIGHBOURS = 5;
/** A file with less than this part of the usual number of rows is short. */
const USUAL_PART = 0.9;
/** Fewer missing rows, or rows with a count of 0, are no sign of damage: in a small archive each row is a large part. */
const FEWEST = 5;
/** This many consecutive files of about the same length are not short: the archive has changed. */
const NORMAL_RUN = 3;
/** Largest part of rows with a count of 0 beyond the usual part. */
const ZERO_PART = 0.05;

export function byTime(a: ArchiveFile, b: ArchiveFile): number {
  return a.capturedAt - b.capturedAt || (a.file < b.file ? -1 : 1);
}

/**
 * The damage of each file of one archive, given in the order of their times: found in the file, or by comparison with the
 * others, without those that are held back. Depends on nothing but the files, so the order in which they were imported does not
 * matter.
 */
export function judge(files: readonly ArchiveFile[]): (readonly Damage[])[] {
  const recorded = files.filter((file) => !isHeldBack(file));
  const judged = new Map(judgeRecorded(recorded).map((damage, i) => [recorded[i], damage]));
  return files.map((file) => judged.get(file) ?? file.damage);
}

function judgeRecorded(files: readonly ArchiveFile[]): Damage[][] {
  const own = files.map(({ damage }) => damage.filter(({ kind }) => !COMPARED.has(kind)));
  const complete = files.filter((_, i) => !own[i]?.some(({ kind }) => INCOMPLETE.has(kind)));
  const sameTime = new Map(
    [...Map.groupBy(files, (file) => file.capturedAt)].map(([at, all]) => [at, sharedTime(at, all)]),
  );
  let before = 0;
  return files.map((file, i) => {
    const isComplete = complete[before] === file;
    const after = isComplete ? before + 1 : before;
    const neighbours = [
      ...complete.slice(Math.max(0, before - NEIGHBOURS), before),
      ...complete.slice(after, after + NEIGHBOURS),
    ];
    const isNormal = isComplete && runLength(complete, before) >= NORMAL_RUN;
    if (isComplete) before++;
    return [
      ...(own[i] ?? []),
      ...(isNormal ? [] : fewRows(file, neighbours)),
      ...zeros(file, neighbours),
      ...(sameTime.get(file.capturedAt) ?? []),
    ];
  });
}

function fewRows({ rows }: ArchiveFile, neighbours: readonly ArchiveFile[]): Damage[] {
  const usual = median(neighbours.map((file) => file.rows));
  if (neighbours.length === 0 || rows === 0) return [];
  if (rows >= USUAL_PART * usual || usual - rows < FEWEST) return [];
  const fewer = Math.round(100 * (1 - rows / usual));
  const reason = `${number(rows)} rows, ${fewer} % fewer than the usual ${number(Math.round(usual))}`;
  return [{ kind: "FEW_ROWS", reason }];
}

function zeros(file: ArchiveFile, neighbours: readonly ArchiveFile[]): Damage[] {
  const parts = neighbours.filter(({ rows }) => rows > 0).map(zeroPart);
  const usual = median(parts);
  if (parts.length === 0 || zeroPart(file) <= usual + ZERO_PART) return [];
  if (file.zeros - usual * file.rows < FEWEST) return [];
  const part = Math.round(100 * zeroPart(file));
  const reason = `0 stars or forks in ${number(file.zeros)} of ${number(file.rows)} rows (${part} %), usually in ${Math.round(100 * usual)} %`;
  return [{ kind: "ZEROS", reason }];
}

const zeroPart = ({ rows, zeros }: ArchiveFile): number => (rows === 0 ? 0 : zeros / rows);

function sharedTime(at: number, files: readonly ArchiveFile[]): Damage[] {
  if (files.length < 2) return [];
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const reason = `${number(files.length)} files have the time ${isoTime(at)}; of their ${number(rows)} rows only the first of each repository is kept`;
  return [{ kind: "SAME_TIME", reason }];
}

/** Number of consecutive files, with this one, that are about as long as it; at most about NORMAL_RUN are counted. */
function runLength(files: readonly ArchiveFile[], index: number): number {
  const rows = files[index]?.rows ?? 0;
  const isAlike = (i: number) => {
    const other = files[i]?.rows ?? 0;
    return Math.min(rows, other) >= USUAL_PART * Math.max(rows, other) && other > 0;
  };
  let length = 1;
  for (let i = index - 1; length < NORMAL_RUN && isAlike(i); i--) length++;
  for (let i = index + 1; length < NORMAL_RUN && isAlike(i); i++) length++;
  return length;
}

const number = (value: number): string => value.toLocaleString("en-US");

/** A file that an import has recorded. */
export interface ImportedFile extends ArchiveFile {
  importedAt: number;
}

/** A file with its damage, judged by comparison with all files of its archive. */
export interface JudgedFile extends ImportedFile {
  /** Whether it has damage of a kind that it did not have before. */
  isNews: boolean;
}

const IMPORT_FILES = bulkOf("import_files");

/** Identifies a file among all archives. */
export function fileKey({
  source,
  capturedAt,
  file,
}: Pick<ArchiveFile, "source" | "capturedAt" | "file">): string {
  return `${source} ${capturedAt} ${file}`;
}

/**
 * Records files whose rows have all been recorded, and judges all files of their archives again. Recording a file again
 * changes nothing, unless it has more rows now. Returns these files as judged, and earlier ones whose damage has changed.
 *
 * If another file is the newest undamaged one now, the growth of repositories last counted between the two is marked outdated
 * in the same transaction. Repositories in neither file were marked by an earlier change.
 */
export async function recordFiles(
  tx: Tx,
  dialect: Dialect,
  files: readonly ImportedFile[],
): Promise<JudgedFile[]> {
  const stored = await readFiles(tx, sourcesOf(files));
  const judged = judgeWith(stored, files);
  const before = new Map(stored.map((file) => [fileKey(file), file]));
  const changed = judged.filter((file) => !areEqual(file, before.get(fileKey(file))));
  if (changed.length > 0) {
    await dialect.upsert(tx, IMPORT_FILES, changed.map(rowOf));
    for (const source of sourcesOf(files))
      await markBetween(tx, source, [newestUndamaged(stored, source), newestUndamaged(judged, source)]);
    await bumpRevision(tx);
  }
  const shown = new Set([...files, ...changed].map(fileKey));
  return judged
    .filter((file) => shown.has(fileKey(file)))
    .map((file) => ({ ...file, isNews: isNews(file, before.get(fileKey(file))) }));
}

/** Forgets files, with their rows if they wait, and judges the other files of their archives again. */
export async function removeFiles(
  tx: Tx,
  dialect: Dialect,
  files: readonly Pick<ArchiveFile, "source" | "capturedAt" | "file">[],
): Promise<void> {
  if (files.length === 0) return;
  const removed = new Set(files.map(fileKey));
  const sources = [...new Set(files.map(({ source }) => source))];
  const stored = await readFiles(tx, sources);
  const left = judgeWith(
    stored.filter((file) => !removed.has(fileKey(file))),
    [],
  );
  for (const table of ["import_files", "waiting_rows"] as const)
    for (const { source, capturedAt, file } of files)
      await tx
        .deleteFrom(table)
        .where("source", "=", source)
        .where("captured_at", "=", capturedAt)
        .where("file", "=", file)
        .execute();
  await dialect.upsert(tx, IMPORT_FILES, left.map(rowOf));
  for (const source of sources)
    await markBetween(tx, source, [newestUndamaged(stored, source), newestUndamaged(left, source)]);
  await bumpRevision(tx);
}

/** The files as `recordFiles` would judge them; records nothing. */
export async function judgeFiles(db: Db, files: readonly ImportedFile[]): Promise<ImportedFile[]> {
  const given = new Set(files.map(fileKey));
  const judged = judgeWith(await readFiles(db, sourcesOf(files)), files);
  return judged.filter((file) => given.has(fileKey(file)));
}

/** All files that imports have recorded, by archive and time. */
export async function dumpFiles(db: Db): Promise<ArchiveFile[]> {
  const files = await readFiles(db);
  // Sorted here, as the engines order texts differently.
  return files.sort((a, b) => (a.source === b.source ? byTime(a, b) : a.source < b.source ? -1 : 1));
}

/** Notes a file with its damage, without judging others. */
export function noteFile(tx: Tx, dialect: Dialect, file: ImportedFile): Promise<void> {
  return dialect.upsert(tx, IMPORT_FILES, [rowOf(file)]);
}

const sourcesOf = (files: readonly ArchiveFile[]): string[] => [
  ...new Set(files.map(({ source }) => source)),
];

export async function readFiles(db: Db, sources?: readonly string[]): Promise<ImportedFile[]> {
  if (sources?.length === 0) return [];
  const all = db.selectFrom("import_files").selectAll();
  const rows = await (sources === undefined ? all : all.where("source", "in", sources)).execute();
  return rows.map((row) => ({
    source: row.source,
    file: row.file,
    capturedAt: row.captured_at,
    rows: row.row_count,
    zeros: row.zeros,
    damage: row.damage === null ? [] : (JSON.parse(row.damage) as Damage[]),
    importedAt: row.imported_at,
  }));
}

function rowOf({ source, capturedAt, file, rows, zeros, damage, importedAt }: ImportedFile): BulkRow {
  const why = damage.length === 0 ? null : JSON.stringify(damage);
  return [source, capturedAt, file, rows, zeros, why, importedAt];
}

/**
 * All files of the archives, judged. Of a file that is stored and given, the one that is not held back counts; of two such, the one
 * with more rows, else the stored one.
 */
function judgeWith(stored: readonly ImportedFile[], files: readonly ImportedFile[]): ImportedFile[] {
  const byKey = new Map(stored.map((file) => [fileKey(file), file]));
  for (const file of files) {
    const known = byKey.get(fileKey(file));
    const isBetter = known !== undefined && isHeldBack(file) === isHeldBack(known) && file.rows > known.rows;
    if (known === undefined || isBetter || (isHeldBack(known) && !isHeldBack(file)))
      byKey.set(fileKey(file), file);
  }
  return [...Map.groupBy(byKey.values(), ({ source }) => source).values()].flatMap((all) => {
    const ordered = all.sort(byTime);
    const damage = judge(ordered);
    return ordered.map((file, i) => ({ ...file, damage: damage[i] ?? [] }));
  });
}

function areEqual(file: ImportedFile, known: ImportedFile | undefined): boolean {
  if (known === undefined) return false;
  return JSON.stringify(rowOf(file)) === JSON.stringify(rowOf(known));
}

function isNews({ damage }: ArchiveFile, known: ArchiveFile | undefined): boolean {
  return damage.some(({ kind }) => !known?.damage.some((other) => other.kind === kind));
}

function newestUndamaged(files: readonly ArchiveFile[], source: string): number {
  let newest = 0;
  for (const file of files)
    if (file.source === source && file.damage.length === 0) newest = Math.max(newest, file.capturedAt);
  return newest;
}

/** Marks the growth of the repositories of an archive that were counted last from the earlier of two times until the later. */
async function markBetween(tx: Tx, source: string, times: readonly [number, number]): Promise<void> {
  const [from, until] = [Math.min(...times), Math.max(...times)];
  if (from === until) return;
  await sql`insert into outdated (kind, repository_id) select 'rollups', id from repositories
    where import_source = ${source} and counted_at >= ${from} and counted_at < ${until}
    on conflict do nothing`.execute(tx);
}
