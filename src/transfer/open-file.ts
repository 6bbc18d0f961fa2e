/** Opens files for an import: decompresses them, and refuses those that decompress to more than any history. */
import { createReadStream } from "node:fs";
import { extname } from "node:path";
import { Duplex, PassThrough, Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { DAMAGED_DATA, Refusal } from "./values.js";

/** Members of a tar or zip file that are read. */
export const MAX_MEMBERS = 10_000;
/** Larger chunks cost memory and save no time. */
const CHUNK_BYTES = 32 * 1024;

/** Decompressed bytes that any file may have. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;
/** How many times its size a larger one may become. Histories shrink to a tenth, at most a fortieth; zeros to a thousandth. */
const MAX_RATIO = 200;

const UNPACKERS = new Map<string, () => Duplex>([
  [".gz", createGunzip],
  [".zst", createZstdDecompress],
  [".xz", createUnxz],
  [".tgz", createGunzip],
  [".txz", createUnxz],
]);

/** An open file. `close` releases it at any time. */
interface OpenFile {
  /** Its bytes, decompressed. Fails with a Refusal if reading on makes no sense. */
  input: Readable;
  close: () => void;
}

/** The name of a file without the ending of its compression. */
export function unpackedName(name: string): string {
  return name.replace(/\.(gz|zst|xz)$/, "").replace(/\.t[gx]z$/, ".tar");
}

/** Opens a file, or standard input for "-", whose bytes are not decompressed. `onBytes` counts the bytes on disk. */
export function openFile(path: string, onBytes: (length: number) => void): OpenFile {
  const raw = createReadStream(
    path,
    path === "-" ? { fd: 0, autoClose: false } : { highWaterMark: CHUNK_BYTES },
  );
  const input = new PassThrough({ highWaterMark: CHUNK_BYTES });
  let packed = 0;
  raw.on("error", (error) => input.destroy(error));
  raw.on("data", (chunk) => {
    packed += chunk.length;
    onBytes(chunk.length);
  });
  // Errors after the last read are ignored.
  input.on("error", () => {});
  const unpacker = UNPACKERS.get(extname(path))?.();
  if (unpacker !== undefined) {
    let unpacked = 0;
    unpacker.on("error", (error: Error) => input.destroy(unpacked === 0 ? notPacked(path) : error));
    unpacker.on("data", (chunk: Buffer) => {
      unpacked += chunk.length;
      if (isBomb(unpacked, packed)) input.destroy(bomb());
    });
    // Node continues after a part of a .zst file only if the next part begins with a chunk.
    unpacker.on("end", () => {
      if ("bytesWritten" in unpacker && Number(unpacker.bytesWritten) < packed) input.destroy(severalParts());
    });
  }
  const bytes = unpacker === undefined ? raw : raw.pipe(unpacker);
  bytes.pipe(input);
  const close = () => {
    for (const stream of [raw, bytes, input]) stream.destroy();
  };
  return { input, close };
}

/** Whether decompressed bytes are too many for their compressed size. */
export function isBomb(unpackedBytes: number, packedBytes: number): boolean {
  return unpackedBytes > Math.max(MAX_UNPACKED_BYTES, MAX_RATIO * packedBytes);
}

function notPacked(path: string): Refusal {
  return new Refusal(`not compressed as its name says (${extname(path)}), or damaged at the beginning`);
}

export function bomb(): Refusal {
  return new Refusal(
    `decompresses to more than ${MAX_RATIO} times its size; not all of it was read. If that is right, decompress it first`,
  );
}

function severalParts(): Refusal {
  return new Refusal("has several compressed parts; not all of it was read. Decompress it first");
}

/**
 * Decompresses .xz, also of several parts, with the decoder of the XZ project as WebAssembly. It decodes one file at a time, and waits
 * until the one before is closed. A file may demand up to 64 MiB of memory, as `xz -9` does.
 */
function createUnxz(): Duplex {
  return Duplex.from(async function* (source: AsyncIterable<Buffer>) {
    const { default: xz } = await import("xz-decompress");
    // The library's types are those of browsers.
    const unpacked = Readable.fromWeb(new xz.XzReadableStream(ReadableStream.from(source) as never) as never);
    try {
      for await (const chunk of unpacked) if (chunk.length > 0) yield chunk;
    } catch {
      throw new Refusal(DAMAGED_DATA);
    } finally {
      unpacked.destroy();
    }
  });
}
