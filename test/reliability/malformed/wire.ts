/** Sends bytes and reads every response until the server closes the connection. */
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { type RawResponse, takeResponse } from "../fuzz/connection.js";

/** How long a connection that should be closed may stay open, in ms. */
const PATIENCE_MS = 20_000;

export interface WireResult {
  responses: RawResponse[];
  /** Whether the server closed the connection while ours was still open. */
  isClosedByServer: boolean;
}

/**
 * Sends packets over a connection. With `endsFirst` our side ends after them, so that the server need not wait for the rest of a
 * request. Throws for bytes that are not a response.
 */
export async function exchange(
  port: number,
  sent: readonly string[],
  endsFirst: boolean,
): Promise<WireResult> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  let isClosedByServer = false;
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("end", () => {
    isClosedByServer = !endsFirst;
  });
  // A server may close while it is still being written to; what it said before counts.
  socket.on("error", () => {
    isClosedByServer = true;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  const patience = setTimeout(() => socket.destroy(), PATIENCE_MS);
  for (const packet of sent) {
    if (socket.destroyed) break;
    socket.write(Buffer.from(packet, "latin1"));
    await setImmediate();
  }
  if (endsFirst) socket.end();
  await closed;
  clearTimeout(patience);
  return { responses: readAll(Buffer.concat(chunks)), isClosedByServer };
}

/** All responses in some bytes; what ends too early is left out. */
function readAll(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const taken = takeResponse(rest, "GET");
    if (taken === undefined) break;
    responses.push(taken.response);
    rest = taken.rest;
  }
  return responses;
}
