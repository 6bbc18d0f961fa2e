import type { Caller } from "../metering/metering.js";

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
