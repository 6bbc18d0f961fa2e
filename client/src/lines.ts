import { SiderealError } from "./error.js";

/**
 * The JSON values of a body with one on each line, read no faster than they are used. Throws NETWORK if the body ends within a line
 * or before its end, unless `signal` ended it. Leaving the loop ends the body.
 */
export async function* linesOf<T>(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw cutShort(cause);
      });
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield parsed<T>(line);
      if (!done) continue;
      if (rest !== "") throw cutShort();
      return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const cutShort = (cause?: unknown): SiderealError =>
  new SiderealError("NETWORK", "The response was cut short.", { status: 200, cause });

/** The JSON of a response. Throws UNEXPECTED_RESPONSE if it is none. */
export function parsed<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SiderealError("UNEXPECTED_RESPONSE", "The response is not JSON.", { status: 200, cause });
  }
}
