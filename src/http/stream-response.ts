import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Encoding } from "./stored-response.js";

/** Least average rate at which a client must read, after a minute; a body of unknown length may take as long as 20 MB. */
const SLOWEST_BYTES_PER_MS = 32;
const GRACE_MS = 60_000;
const ASSUMED_BYTES = 20 * 2 ** 20;

/** Texts are compressed less than responses that are kept, as this is done for one caller. */
const ENCODERS = {
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: () => createZstdCompress(),
  gzip: () => createGzip({ level: 5 }),
} as const;

const READ_SLOWLY = new AppError("INVALID_REQUEST", "The client reads too slowly.");

interface StreamOptions {
  response: ServerResponse;
  stream: Readable;
  encoding: Encoding | undefined;
  /** The Content-Length in the head; undefined without one. */
  length: number | undefined;
  clock: Pick<Clock, "sleep">;
}

/**
 * Sends a body behind a head that was written. The stream is read no faster than the client reads, and destroyed when the client leaves
 * or is too slow. Resolves with the bytes of the body that were sent, and why it was cut short (`fault`, undefined if the client left).
 * A body that is cut short ends with a reset of the connection, so that no client takes it for complete. Never throws.
 */
export async function sendStream({ response, stream, encoding, length, clock }: StreamOptions) {
  let bytes = 0;
  let fault: unknown;
  const ended = new AbortController();
  const { signal } = ended;
  const end = () => {
    ended.abort();
    stream.destroy();
  };
  // A write may come between the loss of the connection and its event.
  response.once("close", end).on("error", end);
  const body = encoding === undefined ? stream : pipeline(stream, ENCODERS[encoding](), () => {});
  const mostMs = GRACE_MS + (length ?? ASSUMED_BYTES) / SLOWEST_BYTES_PER_MS;
  void clock.sleep(mostMs, signal).then(() => {
    if (!signal.aborted) cut(READ_SLOWLY);
  });
  function cut(error: unknown): void {
    fault = error;
    response.socket?.resetAndDestroy();
    response.destroy();
  }
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (!response.write(chunk)) await once(response, "drain", { signal });
    }
    if (length !== undefined && bytes < length)
      throw new Error(`the body has only ${bytes} of ${length} bytes`);
    response.end();
    if (!response.writableFinished) await once(response, "finish", { signal });
  } catch (error) {
    if (!signal.aborted) cut(error);
  }
  end();
  return { bytes, fault };
}
