import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ArchiveFile, Observation, StatedRename } from "../repositories/repositories.js";
import { Refusal } from "./values.js";

/** The result of reading one line of a file; `line` is its number from 1. */
export type Line = { line: number } & (
  | { observation: Observation }
  /** Why the line is invalid. */
  | { refused: string }
  /** Why a valid line is not recorded, and the time that it is about. */
  | { skipped: string; at: number }
  /** A file that the exporting catalogue had imported. */
  | { importedFile: ArchiveFile }
  /** Names that the exporting catalogue keeps apart. */
  | { parted: StatedRename }
);

/** Longer lines are skipped, so that they cannot exhaust memory. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;
/** Nothing is read after a longer line, as it may have no end. */
export const MAX_SKIPPED_LENGTH = 64 * 1024 * 1024;

interface TextLine {
  /** From 1. */
  number: number;
  /** Undefined if the line is too long. */
  text: string | undefined;
}

/** The lines of a stream that are not empty, in groups as they arrive. Throws Refusal at a line that seems to have no end. */
export async function* readLines(input: Readable): AsyncGenerator<TextLine[]> {
  const decoder = new StringDecoder("utf8");
  const open = new OpenLine();
  for await (const chunk of input) {
    const parts = decoder.write(chunk).split("\n");
    const last = parts.pop() ?? "";
    const lines: TextLine[] = [];
    for (const part of parts) {
      open.add(part);
      const line = open.end();
      if (line !== undefined) lines.push(line);
    }
    yield lines;
    open.add(last);
  }
  open.add(decoder.end());
  const line = open.end();
  if (line !== undefined) yield [line];
}

/** The line being read, whose end has not arrived yet. */
class OpenLine {
  /** Joined once, at its end: joining after each part would copy the line each time. */
  #parts: string[] = [];
  #number = 1;
  #length = 0;

  /** Adds a part. Throws Refusal if the line is longer than any can be. */
  add(part: string): void {
    if (part === "") return;
    this.#length += part.length;
    if (this.#length > MAX_SKIPPED_LENGTH) throw endless(this.#number);
    if (this.#length > MAX_LINE_LENGTH) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Ends the line and begins the next one. Undefined for an empty line. */
  end(): TextLine | undefined {
    const number = this.#number++;
    if (this.#length === 0) return undefined;
    const isTooLong = this.#length > MAX_LINE_LENGTH;
    const text = isTooLong ? undefined : this.#parts.join("").replace(/^\uFEFF|\r$/g, "");
    this.#parts = [];
    this.#length = 0;
    return { number, text };
  }
}

/** Why nothing is read from this line on. */
export function endless(line: number): Refusal {
  return new Refusal(
    `the line is longer than ${MAX_SKIPPED_LENGTH / 1024 / 1024} MiB; nothing was read from here on`,
    line,
  );
}
