import type { IncomingHttpHeaders } from "node:http";
import type { Account, Source } from "../accounts/accounts.js";
import type { Caller } from "./limiter.js";

/** A request as handlers see it. */
export interface HttpRequest {
  /** HEAD arrives as GET; its body is dropped when the response is sent. */
  readonly method: string;
  /** Below the base URL, as it was sent. */
  readonly path: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The parameters that the route declares. */
  readonly query: URLSearchParams;
  /** Empty where the response is shared between callers, so that it cannot depend on them. */
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Where it comes from, as far as it is stored. */
  readonly source: () => Source;
  /** Whether it comes straight from a browser on this machine; see `isFromThisMachine`. */
  readonly isOnThisMachine: () => boolean;
  /** The signed-in account: always present on routes with `session` access, and looked up for pages. */
  readonly account: Account | undefined;
  /** In the X-Request-Id header of the response, and in the log. */
  readonly id: string;
  /** The parsed JSON body; undefined where the route takes none. */
  readonly json: unknown;
  /** The fields of a form; empty where the route takes none. */
  readonly formFields: URLSearchParams;
  /** Sends a request of the same sender to another route, with the limits, the cache and the usage of that route. */
  readonly ask: Ask;
}

/** A request that a handler sends to another route for its own sender. */
export interface InnerRequest {
  method: "GET" | "POST";
  /** Path and query, below the base URL, with escapes as on the wire. */
  url: string;
  /** The JSON body of a POST. */
  json?: unknown;
}

/** The response to an inner request, as over HTTP. */
export interface InnerReply {
  status: number;
  /** Where a redirect leads, below the base URL. */
  location: string | undefined;
  /** Of a 429 or 503. */
  retryAfterSeconds: number | undefined;
  body: string;
}

/** Sends an inner request. Its response may be an error; it throws only where nobody waits for it any longer. */
export type Ask = (request: InnerRequest) => Promise<InnerReply>;

/** Whom inner requests count against. */
export interface Sender {
  caller: Caller;
  /** The caller by address. */
  address: Caller;
  keyId: number | undefined;
  userAgent: string | undefined;
  /** Whether nobody will read the response. */
  isGone: () => boolean;
}

/** Path and query of a request, with the parameters that its route declares. */
export function addressOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  return query.size === 0 ? path : `${path}?${query}`;
}
