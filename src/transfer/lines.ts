import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Observation } from "../catalog/catalog.js";

/** The result of reading one line of a file; `line` is its number from 1. */
export type Line = { line: number } & (
  | { observation: Observation }
  /** Why the line is invalid. */
  | { refused: string }
  /** Why a valid line is not recorded. */
  | { skipped: string }
);

/** Longer lines are skipped, so that a line without an end cannot exhaust memory. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

export interface TextLine {
  /** From 1. */
  number: number;
  /** Undefined if the line is too long. */
  text: string | undefined;
}

/** The lines of a stream, in groups as they arrive. */
export async function* readLines(input: Readable): AsyncGenerator<TextLine[]> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let tooLong = false;
  let number = 0;
  const finished = (text: string): TextLine => {
    number++;
    const line = { number, text: tooLong ? undefined : text.replace(/^\uFEFF|\r$/g, "") };
    tooLong = false;
    return line;
  };
  for await (const chunk of input) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield lines.map(finished);
    if (rest.length > MAX_LINE_LENGTH) {
      tooLong = true;
      rest = "";
    }
  }
  rest += decoder.end();
  if (rest !== "" || tooLong) yield [finished(rest)];
}
