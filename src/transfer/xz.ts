import { Duplex, Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { DAMAGED_DATA, Refusal } from "./values.js";

/**
 * Decompresses .xz, also of several parts, with the decoder of the XZ project as WebAssembly. It decodes one file at a time, and
 * waits until the one before is closed. It needs the memory that the file says, at most 64 MiB as `xz -9` writes it.
 */
export function createUnxz(): Duplex {
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
