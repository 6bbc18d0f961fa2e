/**
 * Import and export. Files come in as observations, in batches that are each recorded in one transaction; the catalogue
 * decides what they change, so that a file may be imported twice, out of order, or again after a crash.
 * A line that cannot be right is reported with its file, number and reason, and kept out.
 */
import { createReadStream } from "node:fs";
import { basename, extname } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { parse as parseCsv } from "csv-parse/sync";
import type { Catalog, Observation } from "../catalog/catalog.js";
import { readCsv } from "./csv.js";
import type { FormatName } from "./formats.js";
import { headerLine, readNdjson, repositoryLines } from "./ndjson.js";
import { Refusal, time } from "./values.js";

export { FORMATS, type FormatName } from "./formats.js";

/** Observations recorded in one transaction. */
const BATCH = 20_000;

/** What one line of a file came to. */
export type Line = { line: number } & (
  | { observation: Observation }
  /** Not understood, or cannot be true. */
  | { refused: string }
  /** Understood, and left out on purpose. */
  | { skipped: string }
);

/** A line that was not taken over. Line 0 stands for the file as a whole. */
export interface Problem {
  file: string;
  line: number;
  reason: string;
}

export interface ImportOptions {
  /** Layout of all files; otherwise each tells by its first line. */
  format?: FormatName;
  /** Time of all snapshots of files without one, instead of the date in the file's name. */
  capturedAt?: number;
  /** File name → time of its snapshots; then every file must be in it. */
  manifest?: ReadonlyMap<string, number>;
  onRefused?: (problem: Problem) => void;
  onSkipped?: (problem: Problem) => void;
  onProgress?: (progress: { bytes: number; rows: number; file: string }) => void;
}

export interface ImportReport {
  files: number;
  rows: number;
  repositoriesAdded: number;
  repositoriesChanged: number;
  snapshotsAdded: number;
  /** Lines that were left out on purpose. */
  skipped: number;
  /** Lines and files that could not be taken over. */
  refused: number;
}

/** Imports files in the order given; "-" is standard input. Fails only when the database does. */
export async function importFiles(
  catalog: Catalog,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const report: ImportReport = {
    files: 0,
    rows: 0,
    repositoriesAdded: 0,
    repositoriesChanged: 0,
    snapshotsAdded: 0,
    skipped: 0,
    refused: 0,
  };
  let batch: Observation[] = [];
  let bytes = 0;
  const flush = async () => {
    const recorded = await catalog.record(batch);
    batch = [];
    report.repositoriesAdded += recorded.repositoriesAdded;
    report.repositoriesChanged += recorded.repositoriesChanged;
    report.snapshotsAdded += recorded.snapshotsAdded;
  };
  for (const path of paths) {
    const file = path === "-" ? "standard input" : path;
    const refuse = (line: number, reason: string) => {
      report.refused++;
      options.onRefused?.({ file, line, reason });
    };
    try {
      const opened = open(path, (length) => {
        bytes += length;
      });
      for await (const line of readFile(opened, path, options)) {
        report.rows++;
        if ("observation" in line) batch.push(line.observation);
        else if ("refused" in line) refuse(line.line, line.refused);
        else {
          report.skipped++;
          options.onSkipped?.({ file, line: line.line, reason: line.skipped });
        }
        if (batch.length >= BATCH) await flush();
        if (report.rows % 1_000 === 0) options.onProgress?.({ bytes, rows: report.rows, file });
      }
      report.files++;
    } catch (error) {
      const reason = fileReason(error);
      if (reason === undefined) throw error;
      refuse(0, reason);
    }
  }
  await flush();
  options.onProgress?.({ bytes, rows: report.rows, file: "" });
  return report;
}

function open(path: string, onBytes: (length: number) => void): Readable {
  const raw = path === "-" ? process.stdin : createReadStream(path, { highWaterMark: 1024 * 1024 });
  const counted = new PassThrough({ highWaterMark: 1024 * 1024 });
  raw.on("data", (chunk: Buffer | string) => onBytes(chunk.length));
  raw.on("error", (error: Error) => counted.destroy(error));
  const unpack = { ".gz": createGunzip, ".zst": createZstdDecompress }[extname(path)];
  if (unpack === undefined) return raw.pipe(counted);
  const unpacked = unpack();
  unpacked.on("error", (error) => counted.destroy(error));
  raw.pipe(unpacked).pipe(counted);
  return counted;
}

async function* readFile(input: Readable, path: string, options: ImportOptions): AsyncGenerator<Line> {
  const first = await firstByte(input);
  const isJson = options.format === undefined ? first === "{" : options.format === "ndjson";
  if (isJson) yield* readNdjson(input);
  else yield* readCsv(input, { capturedAt: capturedAt(path, options) }, options.format);
}

/** Looks at the first character without taking it. */
async function firstByte(input: Readable): Promise<string> {
  for (;;) {
    const chunk: Buffer | null = input.read();
    if (chunk !== null) {
      input.unshift(chunk);
      return chunk
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .trimStart()
        .slice(0, 1);
    }
    if (input.readableEnded || input.destroyed) return "";
    await new Promise<void>((resolve, reject) => {
      input.once("readable", resolve).once("end", resolve).once("error", reject);
    });
  }
}

function capturedAt(path: string, { manifest, capturedAt: given }: ImportOptions): number | undefined {
  const file = basename(path);
  if (manifest !== undefined) {
    const known = manifest.get(file);
    if (known === undefined) throw new Refusal("the manifest does not name this file");
    return known;
  }
  if (given !== undefined) return given;
  const dates = file.match(/\d{4}-\d{2}-\d{2}/g);
  return dates === null ? undefined : time(dates.at(-1), "date in the file's name");
}

/** Reads a manifest: CSV with the columns `file` and `source_commit_time`. Throws Refusal. */
export function readManifest(csv: string): Map<string, number> {
  const rows: Record<string, string>[] = parseCsv(csv, { columns: true, bom: true, skip_empty_lines: true });
  const times = new Map<string, number>();
  for (const row of rows) {
    if (row.file === undefined || row.source_commit_time === undefined) {
      throw new Refusal("a manifest needs the columns file and source_commit_time");
    }
    times.set(row.file, time(row.source_commit_time, "source_commit_time"));
  }
  return times;
}

/** A time given by hand. Throws Refusal. */
export function parseTime(text: string): number {
  return time(text, "date");
}

/** Why a file could not be read, for faults that are the file's; undefined for ours. */
function fileReason(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reasons: Record<string, string> = {
    ENOENT: "there is no such file",
    EACCES: "the file may not be read",
    EISDIR: "it is a folder",
  };
  if (code.startsWith("Z_") || code.startsWith("ZSTD_"))
    return "the compressed data is damaged; what came before it was imported";
  return reasons[code];
}

/** Repositories read at a time. */
const DUMP_PAGE = 200;

/** Writes the whole catalogue as lines, in the order of ids. Returns what it held. */
export async function exportCatalogue(
  catalog: Catalog,
  write: (text: string) => Promise<void>,
  onProgress: (repositories: number) => void = () => {},
): Promise<{ repositories: number; snapshots: number }> {
  const totals = { repositories: 0, snapshots: 0 };
  await write(`${headerLine()}\n`);
  for (let after = 0; ; ) {
    const page = await catalog.dump(after, DUMP_PAGE);
    if (page.length === 0) return totals;
    for (const dumped of page) {
      await write(`${[...repositoryLines(dumped)].join("\n")}\n`);
      totals.snapshots += dumped.snapshots.length;
      after = dumped.repository.id;
    }
    totals.repositories += page.length;
    onProgress(totals.repositories);
  }
}
