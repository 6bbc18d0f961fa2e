/**
 * Sends a body that is made while it is sent. A part is only requested when the connection has taken the one before it, so a slow
 * client costs the memory of two parts. `connections.ts` closes those that stop reading, and a client that takes every part late
 * is cut here: so a stream holds its slot for a time that follows from its size. Ends with the usual end of a body, or
 * closes the connection without it, so that a client can tell that the rest is missing.
 */
import type { ServerResponse } from "node:http";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import type { Clock } from "../clock.js";
import { badKey } from "./api-key.js";
import type { Charge } from "./charge.js";
import type { BodyStream } from "./reply.js";
import type { Encoding } from "./stored-response.js";
import { unlessAborted } from "./unless-aborted.js";

export interface StreamOptions {
  response: ServerResponse;
  stream: BodyStream;
  encoding: Encoding | undefined;
  charge: Charge | undefined;
  /** Whether the sender may still have the rest; looked at before each part. */
  mayGoOn: () => Promise<boolean>;
  clock: Pick<Clock, "sleep" | "monotonic">;
}

/** What a client must read: on average of the time in which it was waited for, after the first of it. */
const SLOWEST = { graceMs: 60_000, bytesPerMs: 32 };

/** What was sent of a stream. */
export interface Streamed {
  /** Of the body, as sent. */
  bytes: number;
  /** Why it ended early, if that was our fault; undefined also if the client has gone. */
  fault: unknown;
}

/** Texts are compressed less than responses that are kept, as this is done for one caller. */
const ENCODERS = {
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 }, chunkSize: CHUNK }),
  zstd: () => createZstdCompress({ chunkSize: CHUNK }),
  gzip: () => createGzip({ level: 5, chunkSize: CHUNK }),
} as const;
const CHUNK = 64 * 1024;
const FLUSHES = {
  br: constants.BROTLI_OPERATION_FLUSH,
  zstd: constants.ZSTD_e_flush,
  gzip: constants.Z_SYNC_FLUSH,
} as const;

/** Sends the body behind a head that was written. Never throws; resolves when the body is sent or the connection closed. */
export async function sendStream(options: StreamOptions): Promise<Streamed> {
  const { response, stream, clock } = options;
  let waitedMs = 0;
  const output = new Output(response, options.encoding);
  // Also while the client does not read.
  stream.signal.addEventListener("abort", () => output.cut(), { once: true });
  try {
    for (;;) {
      const part = await output.unlessClosed(stream.next());
      if (part === undefined) break;
      await pay(options, part.units, output.closed);
      if (output.isClosed) break;
      if (!(await options.mayGoOn())) throw badKey();
      const since = clock.monotonic();
      await output.write(part.bytes);
      waitedMs += clock.monotonic() - since;
      if (waitedMs > SLOWEST.graceMs + output.bytes / SLOWEST.bytesPerMs) output.reset();
    }
    if (!output.isClosed) await output.end();
    const { aborted, reason } = stream.signal;
    return { bytes: output.bytes, fault: aborted ? reason : undefined };
  } catch (fault) {
    output.cut();
    return { bytes: output.bytes, fault };
  } finally {
    stream.close();
  }
}

/** Waits until the caller has the units of a part. */
async function pay({ charge, clock, stream }: StreamOptions, units: number, closed: AbortSignal) {
  if (charge === undefined || units === 0) return;
  const signal = AbortSignal.any([closed, stream.signal]);
  while (!signal.aborted) {
    const { allowed, retryAfterSeconds } = await charge.add(units);
    if (allowed) return;
    await clock.sleep(retryAfterSeconds * 1_000, signal);
  }
}

/** The way to the client, through a compressor where it wants one. */
class Output {
  /** Bytes handed to the connection. */
  bytes = 0;
  readonly #response: ServerResponse;
  readonly #encoder: ReturnType<(typeof ENCODERS)[Encoding]> | undefined;
  readonly #flush: number;
  readonly #ended = new AbortController();
  readonly #closing: Promise<void>;

  constructor(response: ServerResponse, encoding: Encoding | undefined) {
    this.#response = response;
    this.#closing = new Promise((resolve) => {
      const end = () => {
        this.#ended.abort();
        this.#encoder?.destroy();
        resolve();
      };
      response.once("finish", end).once("close", end);
      // A write may come between the loss of the connection and its event.
      response.on("error", end);
      if (response.destroyed) end();
    });
    this.#flush = encoding === undefined ? 0 : FLUSHES[encoding];
    this.#encoder = encoding === undefined ? undefined : ENCODERS[encoding]();
    this.#encoder?.on("error", () => response.destroy());
    this.#encoder?.on("data", (chunk: Buffer) => {
      this.bytes += chunk.byteLength;
    });
    this.#encoder?.pipe(response);
  }

  /** Aborted when the connection is closed, or everything is sent. */
  get closed(): AbortSignal {
    return this.#ended.signal;
  }

  get isClosed(): boolean {
    return this.#ended.signal.aborted || this.#response.destroyed;
  }

  /** The value, or undefined if the connection is closed before. */
  unlessClosed<T>(value: Promise<T>): Promise<T | undefined> {
    return unlessAborted(value, this.closed);
  }

  /** Resolves when there is room for the next part, or the connection is closed. */
  async write(bytes: Uint8Array): Promise<void> {
    const encoder = this.#encoder;
    if (encoder === undefined) {
      this.bytes += bytes.byteLength;
      if (!this.#response.write(bytes)) await this.#drained();
      return;
    }
    encoder.write(bytes);
    await this.unlessClosed(new Promise<void>((resolve) => encoder.flush(this.#flush, resolve)));
  }

  /** Ends the body, and resolves when the connection has taken it. */
  async end(): Promise<void> {
    (this.#encoder ?? this.#response).end();
    await this.#closing;
  }

  /** Closes the connection without the end of the body. */
  cut(): void {
    // Without chunks the end of the connection is the end of the body; only a reset is not.
    if (this.#response.req.httpVersion === "1.0") this.reset();
    else this.#response.destroy();
  }

  /** Closes the connection, and lets the system give up what it has buffered. */
  reset(): void {
    this.#response.socket?.resetAndDestroy();
    this.#response.destroy();
  }

  async #drained(): Promise<void> {
    await this.unlessClosed(new Promise<void>((resolve) => this.#response.once("drain", resolve)));
  }
}
