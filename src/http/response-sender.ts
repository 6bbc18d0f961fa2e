import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { KeyedRequest } from "../accounts/accounts.js";
import type { Clock } from "../lib/clock.js";
import type { AppError, ErrorCode } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { Admission } from "./admission.js";
import { after } from "./after.js";
import { agentFamily } from "./agents.js";
import { discardBody, hasLongBody } from "./body.js";
import type { Callers } from "./callers.js";
import { allowanceOf, type Charge } from "./charge.js";
import { toAppError } from "./error-response.js";
import type { IdentifiedRequest } from "./identity.js";
import type { Decision } from "./limiter.js";
import { forwardedFor } from "./request-head.js";
import { type StoredResponse, streamVariant, type Variant, variantOf } from "./stored-response.js";
import { sendStream } from "./stream-response.js";
import type { Target } from "./targets.js";
import type { Traffic } from "./traffic.js";

interface ResponseSenderOptions {
  admission: Admission;
  callers: Callers;
  traffic: Traffic;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  clock: Clock;
  log: Logger;
}

/** One request, with what is known of it once it is counted. */
export interface Exchange extends IdentifiedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Monotonic. */
  readonly beganAt: number;
  readonly id: string;
  readonly keyId: number | undefined;
  /** Why it cannot be responded to otherwise. */
  readonly fault: AppError | undefined;
  /** What it was counted as; undefined if nothing is limited. */
  readonly charge: Charge | undefined;
}

/** The request to another route as which a request appears in usage; see `ChargedAs`. */
export interface UsedAs extends Pick<Exchange, "charge">, Omit<Sent, "bytes"> {
  name: Target["name"];
}

/** What was done for a response. */
interface Work {
  /** Whether a response was computed for this request, even if another one is sent. */
  isComputed: boolean;
  usedAs?: UsedAs | undefined;
}

const NO_WORK: Work = { isComputed: false };

/** Sends responses in the form that the caller accepts, with what is left of its limits, and counts them for its key. */
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
    const { clock, traffic } = this.#options;
    traffic.note(exchange.target.name, sent.status, clock.monotonic() - exchange.beganAt);
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

interface Sent {
  status: number;
  /** Of the body, as sent. */
  bytes: number;
  code: ErrorCode | null;
  /** What its caller had left. */
  left: Decision | undefined;
}
