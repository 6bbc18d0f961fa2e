import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createServer, type ServerOptions } from "./server.js";

/** A message may be as long as a body over HTTP may be, with some space around it. */
const MAX_MESSAGE_BYTES = 64 * 1024;

export interface Streams {
  input: Readable;
  output: Writable;
}

/** Serves one client until the input ends or `signal` is aborted. Nothing else may write to the output. */
export async function serveStreams(
  { input, output }: Streams,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const { onFault: onerror } = options;
  const server = serveStdio(() => createServer(options), { transport, maxSubscriptions: 0, onerror });
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  try {
    await Promise.race([once(input, "close"), once(input, "end"), ended]);
  } finally {
    await server.close();
  }
}
