import { createReadStream } from "node:fs";

/** Longest text that is read: more than any list of links that people write. */
export const MAX_TEXT_BYTES = 5_000_000;

/** Reads a text file, `-` for standard input. Returns a message if it cannot be read, is too long, or is not UTF-8. */
export async function readText(file: string): Promise<{ text: string } | { problem: string }> {
  const stream = file === "-" ? process.stdin : createReadStream(file);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      const part = Buffer.from(piece);
      bytes += part.length;
      if (bytes > MAX_TEXT_BYTES) return { problem: `is longer than ${MAX_TEXT_BYTES / 1e6} MB` };
      pieces.push(part);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    return { problem: `cannot be read: ${code}` };
  } finally {
    stream.destroy();
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces)) };
  } catch {
    return { problem: "is not a text in UTF-8" };
  }
}
