/**
 * Import and export. Files are read as observations and recorded in batches. The catalogue decides what they change, so a
 * file may be imported twice, out of order, or again after a crash. Invalid lines are reported with file, number and reason,
 * and everything else is imported.
 */
import type { Catalog } from "../catalog/catalog.js";
import { CsvRecords } from "./csv-records.js";
import { headerLine, repositoryLines } from "./ndjson.js";
import type { Problem, ReadOptions, ReadProgress } from "./read-files.js";
import { readInThread } from "./reader.js";
import { Refusal, time } from "./values.js";

export { FORMATS, type FormatName } from "./formats.js";
export type { Problem, ReadProgress } from "./read-files.js";
export { readSample } from "./sample-file.js";
export { Refusal } from "./values.js";

export interface ImportOptions extends ReadOptions {
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
  /** Invalid lines, and files that cannot be read. */
  refused: number;
}

/** Imports files in the given order; "-" is standard input. Throws only when the database fails. */
export async function importFiles(
  catalog: Catalog,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { onRefused, onSkipped, onProgress, ...readOptions } = options;
  const report: ImportReport = {
    files: 0,
    rows: 0,
    repositoriesAdded: 0,
    repositoriesChanged: 0,
    snapshotsAdded: 0,
    skipped: 0,
    refused: 0,
  };
  for await (const { batch, refused, skipped, progress } of readInThread(paths, readOptions)) {
    const recorded = await catalog.recordAll(batch);
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
  return report;
}

/** Reads a manifest: CSV with the columns `file` and `source_commit_time`. Throws Refusal, also for times after `now`. */
export function readManifest(csv: string, now: number): Map<string, number> {
  const records = new CsvRecords();
  const [header, ...rows] = [...records.read(csv), ...records.end()];
  const columns = header !== undefined && "cells" in header ? header.cells : [];
  const [file, at] = [columns.indexOf("file"), columns.indexOf("source_commit_time")];
  if (file === -1 || at === -1) throw new Refusal("a manifest needs the columns file and source_commit_time");
  const times = new Map<string, number>();
  for (const row of rows) {
    if ("fault" in row) throw new Refusal(`line ${row.line}: ${row.fault}`);
    const name = row.cells[file];
    if (name === undefined || row.cells.length !== columns.length)
      throw new Refusal(`line ${row.line}: ${row.cells.length} columns instead of ${columns.length}`);
    times.set(name, time(row.cells[at], `line ${row.line}: source_commit_time`, now));
  }
  return times;
}

/** The time in an option. Throws Refusal, also for a time after `now`. */
export function parseTime(text: string, now: number): number {
  return time(text, "date", now);
}

/** Repositories per query. */
const DUMP_PAGE = 200;

/** The whole catalogue as lines, ordered by id, one repository at a time; `totals` counts what was yielded. */
export async function* exportCatalogue(
  catalog: Catalog,
  totals = { repositories: 0, snapshots: 0 },
  onProgress: (repositories: number) => void = () => {},
): AsyncGenerator<string> {
  yield `${headerLine()}\n`;
  for (let after = 0; ; ) {
    const page = await catalog.dump(after, DUMP_PAGE);
    if (page.length === 0) return;
    for (const dumped of page) {
      yield `${[...repositoryLines(dumped)].join("\n")}\n`;
      totals.snapshots += dumped.snapshots.length;
      totals.repositories++;
      after = dumped.repository.id;
    }
    onProgress(totals.repositories);
  }
}
