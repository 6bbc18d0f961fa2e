import { once } from "node:events";
import { Readable } from "node:stream";
import { Parser } from "tar/parse";
import type { ReadEntry } from "tar/read-entry";
import type { Packed } from "./packed.js";
import { Refusal } from "./values.js";

const CUT_OFF = "the tar file is cut off or damaged; everything before the damage was read";
const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * The members of a tar file, in the order in which they are stored. The content of each must be read, or is skipped, before the
 * next one is returned. Throws Refusal at the damage of a damaged file, if reading a member has not thrown it.
 */
export async function* readTar(input: Readable): AsyncGenerator<Packed> {
  const entries: ReadEntry[] = [];
  let isOver = false;
  let isEndSeen = false;
  let wake = () => {};
  const parser = new Parser({ zstd: false });
  parser.on("entry", (entry: ReadEntry) => {
    entries.push(entry);
    wake();
  });
  parser.on("eof", () => {
    isEndSeen = true;
  });
  parser.on("end", () => {
    isOver = true;
    wake();
  });
  let failure: unknown;
  let isReported = false;
  feed(input, parser).catch((error: unknown) => {
    failure = error;
    // Ends what was begun, after everything before the failure was read.
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
    throw failure ?? new Refusal(CUT_OFF);
  };
  for (;;) {
    const entry = entries.shift();
    if (entry !== undefined) {
      const isFile = entry.type === "File" || entry.type === "OldFile" || entry.type === "ContiguousFile";
      yield { name: entry.path, isFile, open: async () => Readable.from(contentOf(entry)) };
      entry.resume();
    } else if (isOver) break;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  if (isReported) return;
  if (failure !== undefined) throw failure;
  if (!isEndSeen) throw new Refusal(CUT_OFF);
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
