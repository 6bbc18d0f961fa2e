import { createReadStream } from "node:fs";
import { basename, extname } from "node:path";
import { type Duplex, PassThrough, type Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import type { Observation } from "../catalog/catalog.js";
import { Batch, type Gathered } from "./batch.js";
import { readCsv } from "./csv.js";
import type { FormatName } from "./formats.js";
import { readNdjson } from "./ndjson.js";
import { Refusal, time } from "./values.js";

/** Read at a time; larger pieces cost memory and save no time. */
const CHUNK_BYTES = 32 * 1024;

/** Lines left out that are told at once, so that a file of nothing else does not fill the memory. */
const MAX_PROBLEMS = 10_000;

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

export interface ReadOptions {
  /** Layout of all files; otherwise each tells by its first line. */
  format?: FormatName;
  /** Time of all snapshots of files without one, instead of the date in the file's name. */
  capturedAt?: number;
  /** File name → time of its snapshots; then every file must be in it. */
  manifest?: ReadonlyMap<string, number>;
}

/** How far the reading is. */
export interface ReadProgress {
  /** Bytes of the files as they lie on the disk. */
  bytes: number;
  rows: number;
  files: number;
  /** The file being read. */
  file: string;
}

/** Something found while reading: a batch that is ready, or lines that are not in it. */
export interface Found {
  batch: Gathered[];
  refused: Problem[];
  skipped: Problem[];
  progress: ReadProgress;
}

/** Reads files one after the other; "-" is standard input. Faults of a file are reported, and the next one is read. */
export async function* readFiles(paths: readonly string[], options: ReadOptions): AsyncGenerator<Found> {
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
    const { input, close } = open(path, (length) => {
      progress.bytes += length;
    });
    try {
      for await (const lines of readLinesOf(input, path, options, await firstCharacter(input))) {
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
      refused.push({ file, line: 0, reason });
    } finally {
      close();
    }
  }
  yield found();
}

/** A file as a stream of its unpacked bytes. `close` gives it back, read to its end or not. */
function open(path: string, onBytes: (length: number) => void): { input: Readable; close: () => void } {
  const raw = createReadStream(
    path,
    path === "-" ? { fd: 0, autoClose: false } : { highWaterMark: CHUNK_BYTES },
  );
  const input = new PassThrough({ highWaterMark: CHUNK_BYTES });
  const unpack = { ".gz": createGunzip, ".zst": createZstdDecompress }[extname(path)];
  const unpacked: Duplex | Readable = unpack === undefined ? raw : raw.pipe(unpack());
  raw.on("error", (error) => input.destroy(error));
  unpacked.on("error", (error: Error) => input.destroy(error));
  // A fault that comes when nobody reads any more is nobody's.
  input.on("error", () => {});
  raw.on("data", (chunk) => onBytes(chunk.length));
  unpacked.pipe(input);
  const close = () => {
    for (const stream of [raw, unpacked, input]) stream.destroy();
  };
  return { input, close };
}

/** Looks at the first character without taking it. */
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

function readLinesOf(
  input: Readable,
  path: string,
  options: ReadOptions,
  first: string,
): AsyncGenerator<Line[]> {
  const isJson = options.format === undefined ? first === "{" : options.format === "ndjson";
  return isJson
    ? readNdjson(input)
    : readCsv(input, { capturedAt: capturedAt(path, options) }, options.format);
}

function capturedAt(path: string, { manifest, capturedAt: given }: ReadOptions): number | undefined {
  const file = basename(path);
  if (manifest !== undefined) {
    const known = manifest.get(file);
    if (known === undefined) throw new Refusal("the manifest does not list this file");
    return known;
  }
  if (given !== undefined) return given;
  const dates = file.match(/\d{4}-\d{2}-\d{2}/g);
  return dates === null ? undefined : time(dates.at(-1), "date in the file's name");
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "no such file",
  ELOOP: "too many symbolic links",
  EIO: "the disk reported a read error",
};

/** Why a file could not be read, for faults that are the file's; undefined for ours. */
function fileReason(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("Z_") || code.startsWith("ZSTD_"))
    return "the compressed data is damaged; everything before the damage was read";
  return REASONS[code];
}
