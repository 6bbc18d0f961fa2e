import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A longer line is passed over, so that one without an end cannot fill the memory. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

export interface TextLine {
  /** From 1. */
  number: number;
  /** Undefined for a line that is too long. */
  text: string | undefined;
}

/** The lines of a stream, in groups as they are read. */
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
