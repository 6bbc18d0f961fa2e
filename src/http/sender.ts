import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import type { KeyedRequest } from "../accounts/accounts.js";
import type { Clock } from "../lib/clock.js";
import { AppError, type ErrorCode } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { Durations, Metrics } from "../lib/metrics.js";
import { storablePath } from "../lib/tokens.js";
import { agentFamily, type Callers, type IdentifiedRequest } from "./caller.js";
import { toAppError } from "./errors.js";
import { after, type Decision } from "./limiter.js";
import type { Admission, Charge } from "./limits.js";
import { discardBody, forwardedFor, hasLongBody } from "./message.js";
import { type Encoding, type StoredResponse, streamVariant, type Variant, variantOf } from "./response.js";
import type { RouteName } from "./route.js";
import type { Target } from "./targets.js";

interface ResponseSenderOptions {
  admission: Admission;
  callers: Callers;
  traffic: Traffic;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  clock: Clock;
  log: Logger;
}

/** One request, once it is counted. */
export interface Exchange extends IdentifiedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Monotonic. */
  readonly beganAt: number;
  readonly id: string;
  readonly keyId: number | undefined;
  /** Why it cannot be responded to otherwise. */
  readonly fault: AppError | undefined;
  /** Its count; undefined if nothing is limited. */
  readonly charge: Charge | undefined;
}

/** The request to another route as which a request appears in usage; see `ChargedAs`. */
export interface UsedAs extends Pick<Exchange, "charge">, Omit<Sent, "bytes"> {
  name: Target["name"];
}

/** The work done for a response. */
interface Work {
  /** Whether a response was computed for this request, even if another one is sent. */
  isComputed: boolean;
  usedAs?: UsedAs | undefined;
}

const NO_WORK: Work = { isComputed: false };

/** Sends responses in the form that the caller accepts, with its remaining quota, and counts them for its key. */
export class ResponseSender {
  readonly #options: ResponseSenderOptions;

  constructor(options: ResponseSenderOptions) {
    this.#options = options;
  }

  /** A promise until the response is sent, unless that is done in this turn. */
  send(exchange: Exchange, stored: StoredResponse, work: Work = NO_WORK): void | Promise<void> {
    const { message, method, charge } = exchange;
    const { stream } = stored;
    if (stream !== undefined) return this.#stream(exchange, stored, stream, work.usedAs);
    const ifNoneMatch = message.headers["if-none-match"];
    const wanted = {
      isRead: method === "GET" || method === "HEAD",
      ifNoneMatch,
      acceptEncoding: message.headers["accept-encoding"],
    };
    return after(variantOf(stored, wanted), (variant) => {
      // "*" matches every response, so the sender need not have this one.
      const isFree = variant.status === 304 && !work.isComputed && ifNoneMatch?.trim() !== "*";
      return after(charge?.settle(variant.status, stored.units, isFree), (left) => {
        const bytes = this.#sendWhole(exchange, variant, left);
        const { status } = variant;
        this.#finish(exchange, { status, bytes, code: stored.errorCode, left }, work.usedAs);
      });
    });
  }

  /** The bytes of the body that are sent. */
  #sendWhole(exchange: Exchange, variant: Variant, left: Decision | undefined): number {
    const { method, response } = exchange;
    this.#writeHead(exchange, variant, left);
    const body = method === "HEAD" ? undefined : variant.body;
    if (body === undefined) response.end();
    else response.end(body, "latin1");
    return body === undefined ? 0 : variant.bytes;
  }

  /** Sends a response whose body is read meanwhile. A HEAD request reads nothing. */
  async #stream(
    exchange: Exchange,
    stored: StoredResponse,
    stream: Readable,
    usedAs: UsedAs | undefined,
  ): Promise<void> {
    const { message, response } = exchange;
    const { clock, log } = this.#options;
    try {
      const left = await exchange.charge?.settle(stored.status, stored.units, false);
      const { variant, encoding, length } = streamVariant(stored, message.headers["accept-encoding"]);
      this.#writeHead(exchange, variant, left);
      const isHead = exchange.method === "HEAD";
      if (isHead) response.end();
      const sent = isHead ? undefined : await sendStream({ response, stream, encoding, length, clock });
      const { bytes = 0, fault } = sent ?? {};
      if (fault !== undefined) log.warn({ requestId: exchange.id, err: fault }, "a stream was cut short");
      // Usage shows a stream that was cut short as the error that it would have been from the start.
      const { status, code } =
        fault === undefined ? { status: stored.status, code: null } : toAppError(fault);
      this.#finish(exchange, { status, bytes, code, left }, usedAs);
    } finally {
      stream.destroy();
    }
  }

  #writeHead(exchange: Exchange, variant: Variant, left: Decision | undefined): void {
    const { id, target, message, response } = exchange;
    const { admission, clock } = this.#options;
    // By the clock of the service, as caches compute the age of a response from it.
    const date = new Date(clock.now()).toUTCString();
    const rates = left && admission.ratesOf(left);
    let head = variant.head({ id, date, rates, notes: target.notes });
    // A body that nobody reads must not keep the connection busy; Node drains a short one.
    if (hasLongBody(message)) {
      discardBody(message);
      if (!head.includes("Connection")) head = [...head, "Connection", "close"];
    }
    response.writeHead(variant.sentAs, head);
  }

  #finish(exchange: Exchange, sent: Sent, usedAs?: UsedAs): void {
    const { clock, traffic, log } = this.#options;
    const { target, method, id: requestId } = exchange;
    const ms = clock.monotonic() - exchange.beganAt;
    const { status } = sent;
    traffic.note(target.name, status, ms);
    if (log.isLevelEnabled("debug"))
      log.debug({ requestId, method, path: storablePath(target.path), status, ms: rounded(ms) }, "responded");
    if (exchange.keyId !== undefined) this.#record(exchange, exchange.keyId, sent, usedAs);
  }

  /** Counts a request with a key in its usage, once, when its response is sent. */
  #record(exchange: Exchange, keyId: number, sent: Sent, usedAs: UsedAs | undefined): void {
    const { message, target, beganAt } = exchange;
    const { name, charge, status, code, left } = usedAs ?? {
      name: target.name,
      charge: exchange.charge,
      ...sent,
    };
    const { callers, clock, recordUsage } = this.#options;
    recordUsage({
      keyId,
      method: name.method,
      route: name.route,
      status,
      bytes: sent.bytes,
      durationMs: clock.monotonic() - beganAt,
      // The numbers of a request that counted against its address are not the key's.
      allowance: charge?.isOfKey ? allowanceOf(left) : undefined,
      code,
      path: target.path,
      source: {
        address: callers.addressOf(message.socket.remoteAddress, forwardedFor(message) ?? null),
        agent: agentFamily(message.headers["user-agent"]),
      },
    });
  }
}

/** To a tenth of a millisecond. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;

interface Sent {
  status: number;
  /** Of the body, as sent. */
  bytes: number;
  code: ErrorCode | null;
  /** The remaining quota of its caller. */
  left: Decision | undefined;
}

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

/** Bounds of the durations that are counted, in seconds. A cached response takes less than the first. */
const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The responses of one route to one method. */
interface Tally {
  labels: { method: string; route: string };
  readonly statuses: Map<number, number>;
  readonly counts: Float64Array;
  seconds: number;
}

/** Counts responses by route, status and duration. A response costs two look-ups: labels are made when the metrics are read. */
export class Traffic {
  readonly #routes = new Map<string, Map<string | null, Tally>>();

  /** Counts a response that was sent `ms` after its request was received. */
  note({ method, route }: RouteName, status: number, ms: number): void {
    const tally = this.#routes.get(route)?.get(method) ?? this.#add(method, route);
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    const seconds = ms / 1_000;
    let index = 0;
    while (index < BOUNDS_S.length && seconds > (BOUNDS_S[index] ?? 0)) index++;
    tally.counts[index] = (tally.counts[index] ?? 0) + 1;
    tally.seconds += seconds;
  }

  #add(method: string | null, route: string): Tally {
    const tally: Tally = {
      labels: { method: method ?? "any", route },
      statuses: new Map(),
      counts: new Float64Array(BOUNDS_S.length + 1),
      seconds: 0,
    };
    const methods = this.#routes.get(route) ?? new Map<string | null, Tally>();
    this.#routes.set(route, methods.set(method, tally));
    return tally;
  }

  *#tallies(): Iterable<Tally> {
    for (const methods of this.#routes.values()) yield* methods.values();
  }

  *statuses(): Iterable<readonly [number, Record<string, string>]> {
    for (const { labels, statuses } of this.#tallies())
      for (const [status, count] of statuses) yield [count, { ...labels, status: String(status) }];
  }

  *durations(): Iterable<Durations> {
    for (const { labels, counts, seconds } of this.#tallies()) yield { labels, counts, sum: seconds };
  }
}

/** Adds the metrics of responses. */
export function addTraffic(metrics: Metrics, traffic: Traffic): void {
  metrics.add("http_requests_total", "Responses sent, by route and status.", () => traffic.statuses());
  const help = "Time from the request to its response, by route. A stream counts until its end.";
  metrics.addHistogram("http_request_duration_seconds", help, {
    bounds: BOUNDS_S,
    read: () => traffic.durations(),
  });
}

/** The part of a decision that usage records: the count of the key itself. */
function allowanceOf(decision: Decision | undefined): KeyedRequest["allowance"] {
  if (decision === undefined) return undefined;
  const { policy, own } = decision;
  return { bucket: policy.bucket, limit: own.limit, remaining: own.remaining };
}
