import { sql } from "kysely";
import { type BulkRow, bulkOf, type Db, type Dialect, type Tx } from "../database/database.js";
import { type ArchiveFile, byTime, type Damage, isHeldBack, judge } from "./file-damage.js";
import { bumpRevision } from "./outdated.js";

/** A file that an import has recorded. */
export interface ImportedFile extends ArchiveFile {
  importedAt: number;
}

/** A file with its damage as judged beside all files of its archive. */
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
