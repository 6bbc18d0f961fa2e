import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A longer line is passed over, so that one without an end cannot fill the memory. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/** The lines of a stream with their numbers from 1; `text` is undefined for one that is too long. */
export async function* readLines(
  input: Readable,
): AsyncGenerator<{ number: number; text: string | undefined }> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let tooLong = false;
  let number = 0;
  const finished = (text: string): { number: number; text: string | undefined } => {
    number++;
    const line = { number, text: tooLong ? undefined : text.replace(/\r$/, "") };
    tooLong = false;
    return line;
  };
  for await (const chunk of input) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield finished(line);
    if (rest.length > MAX_LINE_LENGTH) {
      tooLong = true;
      rest = "";
    }
  }
  rest += decoder.end();
  if (rest !== "" || tooLong) yield finished(rest.replace(/^\uFEFF/, ""));
}
