import { type Catalog, fileKey } from "../catalog/catalog.js";
import type { Problem, ReadFile, ReadOptions, ReadProgress, ReadTask } from "./gathering.js";
import { readInThread } from "./reader.js";
import { type ImportWarning, WarningLog } from "./warnings.js";

export interface ImportOptions extends ReadOptions {
  /**
   * Whether damaged files are refused, and nothing of them is recorded. All files are then read twice, so standard input
   * cannot be one of them.
   */
  isStrict?: boolean;
  onRefused?: (problem: Problem) => void;
  onSkipped?: (problem: Problem) => void;
  onProgress?: (progress: ReadProgress) => void;
}

export interface ImportReport {
  files: number;
  rows: number;
  repositoriesAdded: number;
  repositoriesChanged: number;
  snapshotsAdded: number;
  /** Valid lines that are not recorded on purpose. */
  skipped: number;
  /** Invalid lines, and files that cannot be read, or are refused as damaged. */
  refused: number;
  /** What is wrong with files that were recorded all the same. */
  warnings: ImportWarning[];
}

/**
 * Imports files in the given order; "-" is standard input. Throws only when the database fails. A file of an archive is recorded
 * as such after all its rows, and together with what is wrong with it: a crash leaves it to the next import.
 */
export async function importFiles(
  catalog: Catalog,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { isStrict = false, onRefused, onSkipped, onProgress, ...readOptions } = options;
  const report: ImportReport = {
    files: 0,
    rows: 0,
    repositoriesAdded: 0,
    repositoriesChanged: 0,
    snapshotsAdded: 0,
    skipped: 0,
    refused: 0,
    warnings: [],
  };
  const log = new WarningLog();
  const task: ReadTask = isStrict
    ? { ...readOptions, refusedTimes: await damagedTimes(catalog, paths, readOptions) }
    : readOptions;
  for await (const { batch, files, headerOnly, refused, skipped, progress } of readInThread(paths, task)) {
    const recorded = await catalog.recordAll(batch);
    log.add(files, await catalog.recordFiles(files));
    for (const file of headerOnly) {
      if (isStrict) refused.push({ file, line: 0, reason: "refused as damaged: a header and no rows" });
      else log.addHeaderOnly(file);
    }
    report.repositoriesAdded += recorded.repositoriesAdded;
    report.repositoriesChanged += recorded.repositoriesChanged;
    report.snapshotsAdded += recorded.snapshotsAdded;
    for (const problem of refused) onRefused?.(problem);
    for (const problem of skipped) onSkipped?.(problem);
    report.refused += refused.length;
    report.skipped += skipped.length;
    report.rows = progress.rows;
    report.files = progress.files;
    onProgress?.(progress);
  }
  report.warnings = log.warnings();
  return report;
}

/** Reads all files to see which are damaged, also beside those that are recorded: the times in each of them, with the reason. */
async function damagedTimes(
  catalog: Catalog,
  paths: readonly string[],
  options: ReadOptions,
): Promise<Map<string, Map<number, string>>> {
  const files: ReadFile[] = [];
  for await (const found of readInThread(paths, { ...options, isJudging: true })) files.push(...found.files);
  const judged = new Map((await catalog.judgeFiles(files)).map((file) => [fileKey(file), file]));
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
