/** Imports files: records the batches that a thread reads from them, and collects the damage of files. */
import { basename } from "node:path";
import {
  addTo,
  type Catalog,
  type Damage,
  type Differing,
  fileKey,
  isHeldBack,
  type JudgedFile,
  ownDamage,
} from "../repositories/repositories.js";
import type { Problem, ReadFile, ReadOptions, ReadProgress, ReadTask } from "./gathering.js";
import { readInThread } from "./reader.js";
import { brief } from "./values.js";

export interface ImportOptions extends ReadOptions {
  /** Whether nothing of damaged files is recorded. All files are read twice then, so none can be standard input. */
  isStrict?: boolean;
  /** Whether files that differ from the one before as damaged files do are recorded, instead of being held back. */
  accepts?: boolean;
  /** Who imports: then the import is listed, and can be undone. */
  by?: string;
  /** Whether readings replace differing ones of earlier imports; only of an import that is listed. */
  replaces?: boolean;
  onRefused?: (problem: Problem) => void;
  /** Gets readings that differ from stored ones of their times, of an import that is listed. */
  onDiffering?: (differing: Differing) => void;
  onSkipped?: (problem: Problem) => void;
  onProgress?: (progress: ReadProgress) => void;
}

export interface ImportReport {
  /** The number under which it is listed; null: it is not. */
  importId: number | null;
  files: number;
  rows: number;
  repositoriesAdded: number;
  repositoriesChanged: number;
  snapshotsAdded: number;
  /** Readings that differ from stored ones, and those of them that took their place. */
  differing: number;
  replaced: number;
  /** Valid lines that are not recorded on purpose. */
  skipped: number;
  /** Invalid lines, and files that cannot be read, or are refused as damaged. */
  refused: number;
  /** Files that were not recorded, as they differ from earlier ones as damaged files do. */
  heldBack: number;
  /** Those of them that wait for the next file. */
  waiting: number;
  /** Files that had waited, and are recorded now. */
  confirmed: number;
  /** Damage of files that were recorded nevertheless, or held back. */
  warnings: ImportWarning[];
}

/**
 * Imports files in the given order; "-" is standard input. Throws only when the database fails. A file of an archive is noted with its
 * damage after all its rows are recorded: a crash leaves it to the next import.
 */
export async function importFiles(
  catalog: Catalog,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { isStrict = false, accepts = false, by, replaces = false, ...given } = options;
  const { onRefused, onSkipped, onProgress, onDiffering, ...reading } = given;
  const readOptions: ReadTask = { ...reading, accepts, known: await catalog.knownArchives() };
  const log = new WarningLog();
  const task: ReadTask = isStrict
    ? { ...readOptions, refusedTimes: await damagedTimes(catalog, paths, readOptions) }
    : readOptions;
  const waiting = new Set<string>();
  const run = by === undefined ? undefined : await catalog.beginImport(by, paths.map(nameOf), replaces);
  const report = emptyReport(run?.id ?? null);
  const noteDiffering = (differing: Differing) => {
    report.differing++;
    if (differing.isReplaced) report.replaced++;
    onDiffering?.(differing);
  };
  for await (const found of readInThread(paths, task)) {
    const { batch, files, headerOnly, refused, skipped, progress } = found;
    for (const rows of found.waiting) {
      await catalog.keepWaiting(rows);
      waiting.add(fileKey(rows.file));
    }
    const recorded = await catalog.recordAll(batch, run, noteDiffering);
    await catalog.recordParted(found.parted);
    for (const file of found.settled) {
      const settled = await catalog.settleFile(file, run);
      addTo(recorded, settled.recorded);
      log.add([], settled.judged);
      waiting.delete(fileKey(file));
      if (file.outcome === "CONFIRMED") report.confirmed++;
    }
    // After their effects: a crash before leaves all of it to the next import.
    log.add(files, await catalog.recordFiles(files, run));
    for (const file of headerOnly) {
      if (isStrict) refused.push({ file, line: 0, reason: "refused as damaged: a header and no rows" });
      else log.addHeaderOnly(file);
    }
    addTo(report, recorded);
    for (const problem of refused) onRefused?.(problem);
    for (const problem of skipped) onSkipped?.(problem);
    report.refused += refused.length;
    report.skipped += skipped.length;
    report.rows = progress.rows;
    report.files = progress.files;
    onProgress?.(progress);
    if (run !== undefined) await catalog.noteImport(run.id, progress);
  }
  if (run !== undefined) await catalog.endImport(run.id);
  report.warnings = log.warnings();
  report.heldBack = log.heldBack();
  report.waiting = waiting.size;
  return report;
}

const nameOf = (path: string): string => (path === "-" ? "standard input" : brief(basename(path), 200));

const emptyReport = (importId: number | null): ImportReport => ({
  importId,
  files: 0,
  rows: 0,
  repositoriesAdded: 0,
  repositoriesChanged: 0,
  snapshotsAdded: 0,
  differing: 0,
  replaced: 0,
  skipped: 0,
  refused: 0,
  heldBack: 0,
  waiting: 0,
  confirmed: 0,
  warnings: [],
});

/** Reads all files to find damage, also in comparison with recorded files. Returns the damaged times of each file with the reason. */
async function damagedTimes(
  catalog: Catalog,
  paths: readonly string[],
  options: ReadTask,
): Promise<Map<string, Map<number, string>>> {
  const files: ReadFile[] = [];
  /** Those on which the comparison has not decided, or not as it first did. */
  const decided = new Map<string, readonly Damage[]>();
  for await (const found of readInThread(paths, options)) {
    files.push(...found.files);
    for (const { file } of found.waiting) decided.set(fileKey(file), []);
    for (const file of found.settled) decided.set(fileKey(file), file.damage);
  }
  const final = files.map((file) => {
    const damage = decided.get(fileKey(file));
    return damage === undefined ? file : { ...file, damage: [...ownDamage(file), ...damage] };
  });
  const judged = new Map((await catalog.judgeFiles(final)).map((file) => [fileKey(file), file]));
  const damaged = new Map<string, Map<number, string>>();
  for (const file of files) {
    const { damage = [] } = judged.get(fileKey(file)) ?? {};
    if (damage.length === 0 || file.readFrom === undefined) continue;
    const reasons = damage.map(({ reason }) => reason).join("; ");
    const known = damaged.get(file.readFrom) ?? new Map<number, string>();
    damaged.set(file.readFrom, known.set(file.capturedAt, reasons));
  }
  return damaged;
}

/** Damage of a file that was read, or of an earlier file that this one proves to be damaged. */
export interface ImportWarning extends Damage {
  file: string;
  /** The time of the file; null if it says none. */
  capturedAt: number | null;
}

/** Collects the damage of files. It is final only at the end, as later files may change the verdict on earlier ones. */
class WarningLog {
  readonly #files = new Map<string, { label: string; isRead: boolean; file: JudgedFile }>();
  readonly #warnings: ImportWarning[] = [];

  /** Adds files that were recorded, and the catalogue's verdict on these and others. */
  add(read: readonly ReadFile[], judged: readonly JudgedFile[]): void {
    const own = new Map(read.map((file) => [fileKey(file), file]));
    for (const file of judged) {
      const key = fileKey(file);
      const known = this.#files.get(key);
      const isOurs = own.has(key);
      const isRead = known?.isRead === true || own.get(key)?.readFrom !== undefined;
      const label =
        own.get(key)?.label ?? known?.label ?? (isOurs ? undefined : `${file.file} (imported before)`);
      if (label !== undefined && (known !== undefined || isOurs || file.isNews))
        this.#files.set(key, { label, isRead, file });
    }
  }

  /** Adds a file without a time, which the catalogue cannot record. */
  addHeaderOnly(file: string): void {
    this.#warnings.push({ file, capturedAt: null, kind: "HEADER_ONLY", reason: "a header and no rows" });
  }

  /** How many of the files that were read are held back. */
  heldBack(): number {
    return [...this.#files.values()].filter(({ isRead, file }) => isRead && isHeldBack(file)).length;
  }

  /** The damage of all files, in the order in which they were read; files that share a time have one warning together. */
  warnings(): ImportWarning[] {
    const warnings = [...this.#warnings];
    const times = new Set<string>();
    for (const { label, file } of this.#files.values()) {
      for (const { kind, reason } of file.damage) {
        const time = `${file.source} ${file.capturedAt}`;
        if (kind === "SAME_TIME" && times.has(time)) continue;
        if (kind === "SAME_TIME") times.add(time);
        warnings.push({ file: label, capturedAt: file.capturedAt, kind, reason });
      }
    }
    return warnings;
  }
}
