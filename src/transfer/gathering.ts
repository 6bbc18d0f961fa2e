/** Rows of files that are not recorded yet. */

import { errorCode } from "../lib/errors.js";
import {
  type ArchiveFile,
  fileKey,
  type KnownArchives,
  MOST_KNOWN,
  type Observation,
  ownDamage,
  type SettledFile,
  type StatedRename,
  type WaitingRows,
} from "../repositories/repositories.js";
import { Batch, type Gathered } from "./batch.js";
import { Comparison } from "./comparison.js";
import type { FormatName } from "./csv-layouts.js";
import type { FileCheck, TimeOptions } from "./file-check.js";
import type { Line } from "./lines.js";
import { DAMAGED_DATA, Refusal } from "./values.js";

/** Problems in one batch, so that a file of invalid lines does not exhaust memory. */
const MAX_PROBLEMS = 10_000;

/** A line that was not imported. Line 0 is the file as a whole. */
export interface Problem {
  file: string;
  line: number;
  reason: string;
}

export interface ReadOptions extends TimeOptions {
  /** Format of all files; by default detected per file. */
  format?: FormatName;
}

export interface ReadTask extends ReadOptions {
  /** The comparison for files of archives; undefined if all are recorded. */
  known?: KnownArchives;
  /** Whether files count whatever the comparison says. */
  accepts?: boolean;
  /** Why rows are refused, by the label of their file, then by their time. */
  refusedTimes?: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

export interface ReadProgress {
  /** Bytes on disk, before decompression. */
  bytes: number;
  rows: number;
  files: number;
  file: string;
  /** The names of the formats of all files that had rows. */
  sources: readonly string[];
}

/** A file of an archive that was read to its end, or as far as it can be. */
export interface ReadFile extends ArchiveFile {
  /** The label of the file that it is, or is in; undefined if another catalogue imported it. */
  readFrom?: string;
  /** Its name in messages. */
  label?: string;
}

/** A batch, the lines left out of it, and the files that are complete with it. */
export interface Found {
  batch: Gathered[];
  refused: Problem[];
  skipped: Problem[];
  files: ReadFile[];
  /** Names to be kept apart, once the batch is recorded. */
  parted: StatedRename[];
  /** Rows to be kept before the files are recorded, as these wait. */
  waiting: WaitingRows[];
  /** Earlier files that files read since have decided on, in order; to be settled before the files are recorded. */
  settled: SettledFile[];
  /** Files without rows whose time is not known either. */
  headerOnly: string[];
  progress: ReadProgress;
}

/** Collects lines and files until there are enough to be recorded. */
export class Gathering {
  readonly progress: ReadProgress = { bytes: 0, rows: 0, files: 0, file: "", sources: [] };
  readonly #task: ReadTask;
  readonly #batch = new Batch();
  readonly #comparison: Comparison | undefined;
  #refused: Problem[] = [];
  #skipped: Problem[] = [];
  #files: ReadFile[] = [];
  #parted: StatedRename[] = [];
  #waiting: WaitingRows[] = [];
  #waitingRows = 0;
  #settled: SettledFile[] = [];
  #headerOnly: string[] = [];

  constructor(task: ReadTask) {
    this.#task = task;
    if (task.known === undefined) return;
    this.#comparison = new Comparison(task.known, task.accepts === true, {
      record: (rows) => this.#addAll(rows),
      wait: (rows) => this.#wait(rows),
      settle: (file) => this.#settle(file),
    });
  }

  get isFull(): boolean {
    const problems = this.#refused.length + this.#skipped.length;
    return this.#batch.isFull || problems >= MAX_PROBLEMS || this.#waitingRows >= MOST_KNOWN;
  }

  add(line: Line, check: FileCheck): void {
    const { label } = check;
    if ("refused" in line) this.#refused.push({ file: label, line: line.line, reason: line.refused });
    else if ("importedFile" in line) this.#files.push(line.importedFile);
    else if ("parted" in line) this.#parted.push(line.parted);
    else {
      const at = "skipped" in line ? line.at : line.observation.at;
      if (at !== null && this.#task.refusedTimes?.get(label)?.has(at)) return;
      if ("observation" in line) this.#sort(line.observation, check);
      else this.#skipped.push({ file: label, line: line.line, reason: line.skipped });
    }
  }

  /** Records a row; one of an archive is collected first, until its file was compared. */
  #sort(observation: Observation, check: FileCheck): void {
    const { at } = observation;
    const file = at === null ? undefined : check.fileAt(at);
    if (file === undefined || this.#comparison === undefined) this.#batch.add(observation);
    else this.#comparison.add(observation, file);
  }

  #wait(rows: WaitingRows): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined && rows.first > 0 && fileKey(last.file) === fileKey(rows.file))
      last.rows.push(...rows.rows);
    else this.#waiting.push(rows);
    this.#waitingRows += rows.rows.length;
  }

  #settle(file: SettledFile): void {
    const key = fileKey(file);
    // Read in the same batch, so it is recorded as it is decided now.
    this.#files = this.#files.map((own) =>
      fileKey(own) === key ? { ...own, damage: [...ownDamage(own), ...file.damage] } : own,
    );
    this.#settled.push(file);
  }

  #addAll(observations: readonly Observation[]): void {
    for (const observation of observations) this.#batch.add(observation);
  }

  /** A file that is not read on purpose. */
  skip(label: string, reason: string): void {
    this.#skipped.push({ file: label, line: 0, reason });
  }

  /** A file that cannot be read, or not further. Returns the reason; throws errors that are bugs of ours. */
  refuse(label: string, error: unknown): string {
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    const line = error instanceof Refusal ? error.line : 0;
    // It was refused for this reason before.
    const isKnown = this.#task.refusedTimes?.has(label) === true;
    if (!isKnown) this.#refused.push({ file: label, line, reason });
    return reason;
  }

  end(check: FileCheck): void {
    if (check.isEmpty) this.#headerOnly.push(check.label);
    for (const file of check.files(this.#comparison?.end() ?? new Map())) {
      const refused = this.#task.refusedTimes?.get(file.readFrom)?.get(file.capturedAt);
      if (refused === undefined) this.#files.push(file);
      else this.#refused.push({ file: file.label, line: 0, reason: `refused as damaged: ${refused}` });
    }
  }

  /** Returns and removes the collected rows. */
  take(): Found {
    const found = {
      batch: this.#batch.take(),
      refused: this.#refused,
      skipped: this.#skipped,
      files: this.#files,
      parted: this.#parted,
      waiting: this.#waiting,
      settled: this.#settled,
      headerOnly: this.#headerOnly,
      progress: { ...this.progress },
    };
    this.#refused = [];
    this.#skipped = [];
    this.#files = [];
    this.#parted = [];
    this.#waiting = [];
    this.#waitingRows = 0;
    this.#settled = [];
    this.#headerOnly = [];
    return found;
  }
}

const REASONS = new Map([
  ["ENOENT", "no such file"],
  ["EACCES", "permission denied"],
  ["EISDIR", "is a directory"],
  ["ENOTDIR", "no such file"],
  ["ENAMETOOLONG", "no such file"],
  ["ELOOP", "too many symbolic links"],
  ["EIO", "the disk reported a read error"],
]);

/** Why a file could not be read; undefined if the error is a bug of ours. */
function fileReason(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.message;
  const code = errorCode(error) ?? "";
  if (code.startsWith("Z_") || code.startsWith("ZSTD_")) return DAMAGED_DATA;
  return REASONS.get(code);
}
