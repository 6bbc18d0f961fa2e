import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../clock.js";
import { Batch, type Gathered } from "./batch.js";
import { readCsv } from "./csv.js";
import type { FormatName } from "./formats.js";
import { readNdjson } from "./ndjson.js";
import { openFile } from "./open-file.js";
import { Refusal, time } from "./values.js";

/** Problems reported in one batch, so that a file of invalid lines does not exhaust memory. */
const MAX_PROBLEMS = 10_000;

/** A line that was not imported. Line 0 is the file as a whole. */
export interface Problem {
  file: string;
  line: number;
  reason: string;
}

export interface ReadOptions {
  /** Format of all files; by default detected per file. */
  format?: FormatName;
  /** Capture time of files without times, instead of the date in the file name. */
  capturedAt?: number;
  /** File name → capture time; every file must be listed. */
  manifest?: ReadonlyMap<string, number>;
}

/** Reading progress. */
export interface ReadProgress {
  /** Bytes on disk, before decompression. */
  bytes: number;
  rows: number;
  files: number;
  /** The file being read. */
  file: string;
}

/** A batch that is ready to be recorded, and the lines that are not in it. */
export interface Found {
  batch: Gathered[];
  refused: Problem[];
  skipped: Problem[];
  progress: ReadProgress;
}

/** Reads files in order; "-" is standard input. A file that cannot be read is reported, and the next one is read. */
export async function* readFiles(
  paths: readonly string[],
  options: ReadOptions,
  clock: Clock,
): AsyncGenerator<Found> {
  const progress: ReadProgress = { bytes: 0, rows: 0, files: 0, file: "" };
  const batch = new Batch();
  let refused: Problem[] = [];
  let skipped: Problem[] = [];
  const found = (): Found => {
    const all = { batch: batch.take(), refused, skipped, progress: { ...progress } };
    refused = [];
    skipped = [];
    return all;
  };
  for (const path of paths) {
    const file = path === "-" ? "standard input" : path;
    progress.file = file;
    const { input, close } = openFile(path, (length) => {
      progress.bytes += length;
    });
    try {
      const first = await firstCharacter(input);
      const isJson = options.format === undefined ? first === "{" : options.format === "ndjson";
      const read = isJson
        ? readNdjson(input, clock)
        : readCsv(input, { capturedAt: capturedAt(path, options, clock), clock }, options.format);
      for await (const lines of read) {
        progress.rows += lines.length;
        for (const line of lines) {
          if ("observation" in line) batch.add(line.observation);
          else if ("refused" in line) refused.push({ file, line: line.line, reason: line.refused });
          else skipped.push({ file, line: line.line, reason: line.skipped });
          if (batch.isFull || refused.length + skipped.length >= MAX_PROBLEMS) yield found();
        }
      }
      progress.files++;
    } catch (error) {
      const reason = fileReason(error);
      if (reason === undefined) throw error;
      refused.push({ file, line: error instanceof Refusal ? error.line : 0, reason });
    } finally {
      close();
    }
  }
  yield found();
}

/** Peeks at the first character. */
async function firstCharacter(input: Readable): Promise<string> {
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
    if (input.errored) throw input.errored;
    if (input.readableEnded) return "";
    await new Promise<void>((resolve, reject) => {
      input.once("readable", resolve).once("end", resolve).once("error", reject);
    });
  }
}

/** When the snapshots of a CSV file were taken; undefined if unknown. Throws Refusal. */
function capturedAt(
  path: string,
  { manifest, capturedAt: given }: ReadOptions,
  clock: Clock,
): number | undefined {
  const file = basename(path);
  if (manifest !== undefined) {
    const known = manifest.get(file);
    if (known === undefined) throw new Refusal("the manifest does not list this file");
    return known;
  }
  if (given !== undefined) return given;
  const dates = file.match(/\d{4}-\d{2}-\d{2}/g);
  return dates === null ? undefined : time(dates.at(-1), "date in the file's name", clock.now());
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
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("Z_") || code.startsWith("ZSTD_"))
    return "the compressed data is damaged; everything before the damage was read";
  return REASONS.get(code);
}
