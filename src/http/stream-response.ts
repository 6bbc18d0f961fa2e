/**
 * Sends a body that is made while it is sent. A part is only requested when the connection has taken the one before it, so a slow
 * client costs the memory of two parts. `connections.ts` closes those that stop reading. A stream that its client delays is cut here,
 * whether by reading slowly or by using up its units: so it holds its slot for a time that follows from its size and its units.
 * Ends with the usual end of a body, or closes the connection without it, so that a client can tell that the rest is missing.
 */
import type { ServerResponse } from "node:http";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Charge } from "./charge.js";
import { LEAST_BYTES_PER_MS } from "./connections.js";
import { badKey } from "./identity.js";
import type { BodyStream } from "./reply.js";
import type { Encoding } from "./stored-response.js";

export interface StreamOptions {
  response: ServerResponse;
  stream: BodyStream;
  encoding: Encoding | undefined;
  charge: Charge | undefined;
  /** Whether the sender may still have the rest; looked at before each part. */
  mayGoOn: () => Promise<boolean>;
  clock: Pick<Clock, "sleep" | "monotonic">;
}

/** Least average rate over the time spent waiting for the client, after a grace period. */
const SLOWEST = { graceMs: 60_000, bytesPerMs: LEAST_BYTES_PER_MS };
const READ_SLOWLY = new AppError("INVALID_REQUEST", "The client read too slowly.");

/** Longest time behind the responses to earlier requests of the connection. */
const BEHIND_MS = 300_000;
const BEHIND = new AppError("INVALID_REQUEST", "Earlier responses on the connection took too long.");

/**
 * Least share of the units of its limit that a stream must get, over the time spent waiting for them after a grace period: other
 * requests of its caller could otherwise take all units, and the stream would hold its slot for as long as they go on.
 */
const FEWEST = { graceMs: 300_000, share: 0.1 };
const NO_UNITS = new AppError("RATE_LIMITED", "The stream got too few units for its next rows.");

/** What was sent of a stream. */
export interface Streamed {
  /** Of the body, as sent. */
  bytes: number;
  /** Why it was cut; undefined also if the client has gone. */
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
  const ended = AbortSignal.any([output.closed, stream.signal]);
  const payments = new Payments(options, ended);
  // Also while the client does not read.
  stream.signal.addEventListener("abort", () => output.cut(), { once: true });
  try {
    if (response.socket === null) await untilFirst(options, ended);
    for (;;) {
      const part = await output.unlessClosed(stream.next());
      if (part === undefined) break;
      await payments.pay(part.units);
      if (output.isClosed) break;
      if (!(await options.mayGoOn())) throw badKey();
      const since = clock.monotonic();
      await output.write(part.bytes);
      waitedMs += clock.monotonic() - since;
      if (waitedMs <= SLOWEST.graceMs + output.bytes / SLOWEST.bytesPerMs) continue;
      output.reset();
      throw READ_SLOWLY;
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

/** Waits for the responses to earlier requests of the connection. Throws BEHIND. */
async function untilFirst({ response, clock }: StreamOptions, ended: AbortSignal): Promise<void> {
  const isFirst = new AbortController();
  response.once("socket", () => isFirst.abort());
  await clock.sleep(BEHIND_MS, AbortSignal.any([isFirst.signal, ended]));
  if (!isFirst.signal.aborted && !ended.aborted) throw BEHIND;
}

/** What a stream pays for its parts. */
class Payments {
  readonly #options: StreamOptions;
  readonly #ended: AbortSignal;
  #paid = 0;
  #waitedMs = 0;

  constructor(options: StreamOptions, ended: AbortSignal) {
    this.#options = options;
    this.#ended = ended;
  }

  /** Waits until the caller has the units of a part, or the stream has ended. Throws NO_UNITS. */
  async pay(units: number): Promise<void> {
    const { charge, clock } = this.#options;
    if (charge === undefined || units === 0) return;
    while (!this.#ended.aborted) {
      const { allowed, retryAfterSeconds, policy } = await charge.add(units);
      if (allowed) {
        this.#paid += units;
        return;
      }
      const msPerUnit = (policy.windowSeconds * 1_000) / policy.limit / FEWEST.share;
      const patienceMs = FEWEST.graceMs + this.#paid * msPerUnit - this.#waitedMs;
      if (patienceMs <= 0) throw NO_UNITS;
      const since = clock.monotonic();
      await clock.sleep(Math.min(retryAfterSeconds * 1_000, patienceMs), this.#ended);
      this.#waitedMs += clock.monotonic() - since;
    }
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

/**
 * The value, or undefined if the signal is aborted before. For a signal that outlives many values: `Promise.race` with a promise as
 * old as the signal would keep all of them until that promise is settled.
 */
export function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
