/**
 * Import and export. Files are read as observations and recorded in batches. The catalogue decides which of them change it, so a file may be
 * imported twice, out of order, or again after a crash. Invalid lines are reported with file, number and reason, damaged files with the
 * damage; everything else is imported.
 */
import { CsvRecords } from "./csv.js";
import { Refusal, time } from "./values.js";

export {
  type BackupPlace,
  checkBackup,
  noteBackup,
  readBackupNote,
  restoreBackup,
  takeBackup,
} from "./backup.js";
export { checkStore, type Finding, repairStore } from "./check.js";
export { FORMATS, type FormatName } from "./csv-layouts.js";
export { Dumps, isDumpDue, writeDump } from "./dumps.js";
export { dumpPages, exportCatalogue } from "./export.js";
export type { Problem } from "./gathering.js";
export type { ImportWarning } from "./import.js";
export { type ImportOptions, type ImportReport, importFiles } from "./import.js";
export { readSample } from "./sample-file.js";
export { stateFiles, writeState } from "./state.js";
export { Refusal } from "./values.js";

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
