import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { KeyedRequest } from "../accounts/accounts.js";
import type { Clock } from "../lib/clock.js";
import type { ErrorCode } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { Admission } from "./admission.js";
import { discardBody, hasShortBody } from "./body.js";
import { allowanceOf, type Charge } from "./charge.js";
import { toAppError } from "./error-response.js";
import type { Exchange } from "./exchange.js";
import { HttpDate } from "./headers.js";
import type { Identities } from "./identity.js";
import type { Decision } from "./limiter.js";
import { type StoredResponse, streamVariant, type Variant, variantOf } from "./stored-response.js";
import { sendStream } from "./stream-response.js";

export interface ResponseSenderOptions {
  admission: Admission;
  identities: Identities;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  clock: Clock;
  log: Logger;
}

/** An exchange with the connection that it came over. */
interface Delivery {
  exchange: Exchange;
  message: IncomingMessage;
  response: ServerResponse;
}

/** Sends responses in the form that the caller accepts, with what is left of its limits, and counts them for its key. */
export class ResponseSender {
  readonly #options: ResponseSenderOptions;
  readonly #date: HttpDate;

  constructor(options: ResponseSenderOptions) {
    this.#options = options;
    this.#date = new HttpDate(options.clock);
  }

  /** Resolves when the response is sent, a stream at its end. */
  async send(delivery: Delivery, stored: StoredResponse, charge: Charge | undefined): Promise<void> {
    const { stream } = stored;
    if (stream === undefined) await this.#sendWhole(delivery, stored, charge);
    else await this.#stream(delivery, { stored, stream, charge });
  }

  async #sendWhole(delivery: Delivery, stored: StoredResponse, charge: Charge | undefined): Promise<void> {
    const { exchange, message, response } = delivery;
    const { method } = exchange;
    const { headers: sent } = message;
    const found = variantOf(stored, {
      isRead: method === "GET" || method === "HEAD",
      ifNoneMatch: sent["if-none-match"],
      acceptEncoding: sent["accept-encoding"],
    });
    const variant = found instanceof Promise ? await found : found;
    // "*" matches every response, so the sender need not have this one.
    const isFree = variant.status === 304 && !exchange.isComputed && sent["if-none-match"]?.trim() !== "*";
    const settled = charge?.settle({ status: variant.status, units: stored.units }, isFree);
    const left = settled instanceof Promise ? await settled : settled;
    this.#writeHead(delivery, variant, left);
    const body = method === "HEAD" ? undefined : variant.body;
    if (body === undefined) response.end();
    else response.end(body, "latin1");
    const { status } = variant;
    const bytes = body === undefined ? 0 : variant.bytes;
    this.record(exchange, { status, bytes, code: stored.errorCode, left, charge });
  }

  /** Sends a response whose body is read meanwhile. A HEAD request reads nothing. */
  async #stream(delivery: Delivery, { stored, stream, charge }: Streaming): Promise<void> {
    const { exchange, message, response } = delivery;
    const { clock, log } = this.#options;
    try {
      const left = await charge?.settle({ status: stored.status, units: stored.units }, false);
      const { variant, encoding, length } = streamVariant(stored, message.headers["accept-encoding"]);
      this.#writeHead(delivery, variant, left);
      const isHead = exchange.method === "HEAD";
      if (isHead) response.end();
      const sent = isHead ? undefined : await sendStream({ response, stream, encoding, length, clock });
      const { bytes = 0, fault } = sent ?? {};
      if (fault !== undefined) log.warn({ requestId: exchange.id, err: fault }, "a stream was cut short");
      // Usage shows a stream that was cut short as the error that it would have been from the start.
      const { status, code } =
        fault === undefined ? { status: stored.status, code: null } : toAppError(fault);
      this.record(exchange, { status, bytes, code, left, charge });
    } finally {
      stream.destroy();
    }
  }

  #writeHead({ exchange, message, response }: Delivery, variant: Variant, left: Decision | undefined): void {
    const { id, target } = exchange;
    const { admission } = this.#options;
    const rates = left && admission.ratesOf(left);
    let head = variant.head({ id, date: this.#date.text(), rates, ignored: target.ignored });
    // A body that nobody reads must not keep the connection busy; Node drains a short one.
    if (!message.complete && !hasShortBody(message)) {
      discardBody(message);
      if (!head.includes("Connection")) head = [...head, "Connection", "close"];
    }
    response.writeHead(variant.status, head);
  }

  /** Counts a request with a key when its response is sent. */
  record(exchange: Exchange, sent: Sent): void {
    const { clock, recordUsage } = this.#options;
    const request = keyedRequest(exchange, sent, clock);
    if (request !== undefined) recordUsage(request);
  }
}

/** A response whose body is a stream. */
interface Streaming {
  stored: StoredResponse;
  stream: Readable;
  charge: Charge | undefined;
}

/** The outcome of a request. */
export interface Sent {
  status: number;
  /** Of the body, as sent. */
  bytes: number;
  code: ErrorCode | null;
  charge: Charge | undefined;
  /** What its caller had left. */
  left: Decision | undefined;
}

/** A request for the usage of its key; undefined for one without a key. To be called when its response is sent. */
export function keyedRequest(
  { keyId, target, address, message, beganAt }: Exchange,
  { status, bytes, code, charge, left }: Sent,
  clock: Pick<Clock, "monotonic">,
): KeyedRequest | undefined {
  if (keyId === undefined) return undefined;
  return {
    keyId,
    method: target.name.method,
    route: target.name.route,
    status,
    bytes,
    durationMs: clock.monotonic() - beganAt,
    // Where the request counted against its address, the numbers are not the key's.
    allowance: charge?.isOfKey ? allowanceOf(left) : undefined,
    code,
    path: target.path,
    caller: address.name,
    userAgent: message.headers["user-agent"] ?? null,
  };
}
