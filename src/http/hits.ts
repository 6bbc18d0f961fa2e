import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { KeyedRequest, KeyHolder } from "../accounts/accounts.js";
import { isByAddress } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { hashToken } from "../lib/tokens.js";
import type { Admission } from "./admission.js";
import { allowanceOf } from "./charge.js";
import { HttpDate } from "./headers.js";
import type { AllowedHosts } from "./hosts.js";
import { callerOfKey, type Identities } from "./identity.js";
import { areShort, countLines, forwardedFor, hasKey, hasOwnCookie } from "./request-head.js";
import type { ResponseCache } from "./response-cache.js";
import { isApi } from "./route.js";
import { variantOf } from "./stored-response.js";
import type { Targets } from "./targets.js";

export interface HitsOptions {
  targets: Targets;
  hosts: AllowedHosts;
  cache: ResponseCache;
  identities: Identities;
  admission: Admission;
  nextId: () => string;
  recordUsage: (request: KeyedRequest) => void;
  clock: Clock;
}

/**
 * Sends responses that are ready: cached, for a known address, to a caller that is known without reading anything and within its
 * limits. Such a request takes no promise, no copy and no handler. Everything else is left to the front, which would do
 * the same for it, step by step.
 */
export class Hits {
  readonly #options: HitsOptions;
  readonly #date: HttpDate;
  readonly #sent = new WeakMap<Socket, { credentials: string; hash: string }>();

  constructor(options: HitsOptions) {
    this.#options = options;
    this.#date = new HttpDate(options.clock);
  }

  /** Sends the response to a request. Returns false, and has done nothing, where it is not ready. */
  send(message: IncomingMessage, response: ServerResponse): boolean {
    const { targets, hosts, cache, admission, clock, nextId, recordUsage } = this.#options;
    const { url, headers } = message;
    if (url === undefined || message.method !== "GET" || !isPlain(message)) return false;
    if (!hosts.accepts(headers.host)) return false;
    const target = targets.peek(url, headers.accept);
    if (target?.cacheKey === undefined) return false;
    const beganAt = clock.monotonic();
    const stored = cache.peek(target.cacheKey, beganAt);
    // Our own cookies change pages, and may belong to an account with its own limits.
    if (stored === undefined || hasOwnCookie(headers.cookie)) return false;
    const ifNoneMatch = headers["if-none-match"];
    const variant = variantOf(stored, {
      isRead: true,
      ifNoneMatch,
      acceptEncoding: headers["accept-encoding"],
    });
    if (variant instanceof Promise || ifNoneMatch?.trim() === "*") return false;
    const address = admission.callerOf(message.socket.remoteAddress, forwardedFor(message));
    let caller = address;
    let holder: KeyHolder | undefined;
    if (hasKey(headers) && target.route.limit.bucket !== "free" && isApi(target.route)) {
      holder = this.#peekHolder(message);
      if (holder === undefined) return false;
      caller = callerOfKey(holder);
    }
    const decision = admission.admit(
      { caller, address, cost: target.cost },
      { status: variant.status, units: stored.units },
    );
    if (decision === undefined) return false;
    const left = decision === "unlimited" ? undefined : decision;
    const { ignored } = target;
    const [id, date, rates] = [nextId(), this.#date.text(), left && admission.ratesOf(left)];
    response.writeHead(variant.status, variant.head({ id, date, rates, ignored }));
    response.end(variant.body, "latin1");
    if (holder !== undefined)
      recordUsage({
        keyId: holder.keyId,
        method: target.name.method,
        route: target.name.route,
        status: variant.status,
        bytes: variant.bytes,
        durationMs: clock.monotonic() - beganAt,
        // Where the request counted against its address, the numbers are not the key's.
        allowance: isByAddress(target.cost.bucket) ? undefined : allowanceOf(left),
        code: null,
        path: target.path,
        caller: address.name,
        userAgent: headers["user-agent"] ?? null,
      });
    return true;
  }

  /** The holder of the key of a request, in the usual spelling and in one header. */
  #peekHolder({ headers, socket }: IncomingMessage): KeyHolder | undefined {
    const { authorization, "x-api-key": key } = headers;
    const sent = authorization ?? key;
    if (typeof sent !== "string" || (authorization !== undefined && key !== undefined)) return undefined;
    if (authorization !== undefined && !authorization.startsWith("Bearer ")) return undefined;
    // Most connections send one key, so its hash is kept as long as they are open.
    let known = this.#sent.get(socket);
    if (known?.credentials !== sent) {
      const secret = authorization === undefined ? sent : authorization.slice("Bearer ".length);
      known = { credentials: sent, hash: hashToken(secret) };
      this.#sent.set(socket, known);
    }
    return this.#options.identities.peekKey(known.hash);
  }
}

/** Whether a message is HTTP/1.1 with one Host, at most one Authorization, no long headers, and no body. */
function isPlain({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion !== "1.1") return false;
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) return false;
  if (!areShort(headers)) return false;
  return countLines(rawHeaders, "host") === 1 && countLines(rawHeaders, "authorization") <= 1;
}
