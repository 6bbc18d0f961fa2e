/** Reads tar and zip files. Loaded for these alone, as their libraries are. */
import { on, once } from "node:events";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { Parser } from "tar/parse";
import type { ReadEntry } from "tar/read-entry";
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from "yauzl";
import { errorCode } from "../lib/errors.js";
import { bomb, isBomb, MAX_MEMBERS } from "./open-file.js";
import { DAMAGED_DATA, Refusal } from "./values.js";

/** A member of a tar or zip file. Its name is text from a stranger, and never used as a path. */
export interface Packed {
  name: string;
  /** Whether it has content: directories, links and devices have none. */
  isFile: boolean;
  /** Its content. Throws Refusal, as does reading it. */
  open: () => Promise<Readable>;
}

const TAR_CUT_OFF = "the tar file is cut off or damaged; everything before the damage was read";
const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * The members of a tar file in stored order. The content of each is read, or skipped, before the next one is returned. Throws Refusal at
 * damage, unless reading a member has thrown it.
 */
export async function* readTar(input: Readable): AsyncGenerator<Packed> {
  let isEndSeen = false;
  const parser = new Parser({ zstd: false });
  const entries = on(parser, "entry", { close: ["end"] });
  parser.on("eof", () => {
    isEndSeen = true;
  });
  let failure: unknown;
  let isReported = false;
  feed(input, parser).catch((error: unknown) => {
    failure = error;
    // Ends the open entry, once everything before the failure was read.
    parser.end();
  });
  const contentOf = async function* (entry: ReadEntry): AsyncGenerator<Buffer> {
    let length = 0;
    for await (const chunk of entry) {
      length += chunk.length;
      yield chunk;
    }
    if (length === entry.size) return;
    isReported = true;
    throw failure ?? new Refusal(TAR_CUT_OFF);
  };
  for await (const [entry] of entries as AsyncIterable<[ReadEntry]>) {
    const isFile = entry.type === "File" || entry.type === "OldFile" || entry.type === "ContiguousFile";
    yield { name: entry.path, isFile, open: async () => Readable.from(contentOf(entry)) };
    entry.resume();
  }
  if (isReported) return;
  if (failure !== undefined) throw failure;
  if (!isEndSeen) throw new Refusal(TAR_CUT_OFF);
}

async function feed(input: Readable, parser: Parser): Promise<void> {
  let isFirst = true;
  for await (const chunk of input) {
    // The parser would decompress it, without a limit that we know.
    if (isFirst && chunk.subarray(0, GZIP.length).equals(GZIP))
      throw new Refusal("a compressed file in a tar file is not read; decompress it first");
    isFirst = false;
    if (!parser.write(chunk)) await once(parser, "drain");
  }
  parser.end();
}

/** The type of a member's file in the upper half of its attributes, if a Unix program wrote them. */
const TYPE_MASK = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** The members of a zip file in the order of their names. Throws Refusal for a file that is damaged or not a zip file. */
export async function* readZip(path: string, onBytes: (length: number) => void): AsyncGenerator<Packed> {
  const zip = await openZip(path);
  let packed = 0;
  let unpacked = 0;
  const contentOf = async function* (entry: Entry): AsyncGenerator<Buffer> {
    let sum = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      unpacked += chunk.length;
      if (isBomb(unpacked, packed)) throw bomb();
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) throw new Refusal(DAMAGED_DATA);
  };
  try {
    for (const { name, entry } of await entriesOf(zip)) {
      packed += entry.compressedSize;
      onBytes(entry.compressedSize);
      const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
      yield {
        name,
        isFile: !name.endsWith("/") && type !== SYMBOLIC_LINK,
        open: async () => {
          if (entry.isEncrypted()) throw new Refusal("is encrypted");
          if (!entry.canDecodeFileData()) throw new Refusal("is compressed in a way that is not supported");
          return Readable.from(contentOf(entry)).on("error", () => {});
        },
      };
    }
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    // Names are only text here, so they are not held to the rules of paths.
    return await openPromise(path, { autoClose: false, decodeStrings: false });
  } catch (error) {
    if (errorCode(error) !== undefined) throw error;
    throw new Refusal("not a zip file, or its directory at the end is damaged");
  }
}

/** At most one entry more than may be read. */
async function entriesOf(zip: ZipFile): Promise<{ name: string; entry: Entry }[]> {
  const found: { name: string; entry: Entry }[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      const name = getFileNameLowLevel(
        entry.generalPurposeBitFlag,
        entry.fileNameRaw,
        entry.extraFields,
        false,
      );
      found.push({ name, entry });
      if (found.length > MAX_MEMBERS) break;
    }
  } catch {
    throw new Refusal("the directory of the zip file is damaged; nothing was read");
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
