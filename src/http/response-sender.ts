import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { KeyedRequest } from "../accounts/accounts.js";
import type { Clock } from "../lib/clock.js";
import type { ErrorCode } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { Admission } from "./admission.js";
import { after } from "./after.js";
import { agentFamily } from "./agents.js";
import { discardBody, hasLongBody } from "./body.js";
import { allowanceOf } from "./charge.js";
import { toAppError } from "./error-response.js";
import type { Exchange } from "./exchange.js";
import type { Decision } from "./limiter.js";
import { forwardedFor } from "./request-head.js";
import { type StoredResponse, streamVariant, type Variant, variantOf } from "./stored-response.js";
import { sendStream } from "./stream-response.js";
import type { Traffic } from "./traffic.js";

interface ResponseSenderOptions {
  admission: Admission;
  traffic: Traffic;
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

  constructor(options: ResponseSenderOptions) {
    this.#options = options;
  }

  /** A promise until the response is sent, unless that is done in this turn. */
  send(delivery: Delivery, stored: StoredResponse): void | Promise<void> {
    const { exchange, message } = delivery;
    const { stream } = stored;
    if (stream !== undefined) return this.#stream(delivery, stored, stream);
    const { method, charge } = exchange;
    const ifNoneMatch = message.headers["if-none-match"];
    const wanted = {
      isRead: method === "GET" || method === "HEAD",
      ifNoneMatch,
      acceptEncoding: message.headers["accept-encoding"],
    };
    return after(variantOf(stored, wanted), (variant) => {
      // "*" matches every response, so the sender need not have this one.
      const isFree = variant.status === 304 && !exchange.isComputed && ifNoneMatch?.trim() !== "*";
      return after(charge?.settle(variant.status, stored.units, isFree), (left) =>
        this.#sendWhole(delivery, { stored, variant, left }),
      );
    });
  }

  #sendWhole(
    delivery: Delivery,
    { stored, variant, left }: { stored: StoredResponse; variant: Variant; left: Decision | undefined },
  ): void {
    const { exchange, response } = delivery;
    this.#writeHead(delivery, variant, left);
    const body = exchange.method === "HEAD" ? undefined : variant.body;
    if (body === undefined) response.end();
    else response.end(body, "latin1");
    const bytes = body === undefined ? 0 : variant.bytes;
    this.#finish(exchange, { status: variant.status, bytes, code: stored.errorCode, left });
  }

  /** Sends a response whose body is read meanwhile. A HEAD request reads nothing. */
  async #stream(delivery: Delivery, stored: StoredResponse, stream: Readable): Promise<void> {
    const { exchange, message, response } = delivery;
    const { clock, log } = this.#options;
    try {
      const left = await exchange.charge?.settle(stored.status, stored.units, false);
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
      this.#finish(exchange, { status, bytes, code, left });
    } finally {
      stream.destroy();
    }
  }

  #writeHead({ exchange, message, response }: Delivery, variant: Variant, left: Decision | undefined): void {
    const { id, target } = exchange;
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

  #finish(exchange: Exchange, sent: Sent): void {
    const { clock, traffic } = this.#options;
    traffic.note(exchange.target.name, sent.status, clock.monotonic() - exchange.beganAt);
    this.#record(exchange, sent);
  }

  /** Counts a request with a key in its usage, once, when its response is sent. */
  #record({ usedAs, ...exchange }: Exchange, sent: Sent): void {
    const { keyId, message, target, beganAt } = exchange;
    const { name, charge, status, code, left } = usedAs ?? { ...exchange, ...sent, name: target.name };
    const { admission, clock, recordUsage } = this.#options;
    if (keyId === undefined) return;
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
        address: admission.addressOf(message.socket.remoteAddress, forwardedFor(message)),
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
