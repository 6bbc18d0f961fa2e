import type { IncomingHttpHeaders } from "node:http";
import type { Account, Source } from "../accounts/accounts.js";
import type { RateLimit } from "./cost.js";
import type { Locality } from "./hosts.js";
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
  readonly locality: () => Locality;
  /** Whether somebody opens a page: it is not prefetched, nor requested by HEAD. Nothing else that reads may change anything. */
  readonly isView: boolean;
  /** The signed-in account: always present on routes with `session` access, and looked up for pages. */
  readonly account: Account | undefined;
  /** In the X-Request-Id header of the response, and in the log. */
  readonly id: string;
  /** The parsed JSON body; undefined where the route takes none. */
  readonly json: unknown;
  /** The fields of a form; empty where the route takes none. */
  readonly formFields: URLSearchParams;
  readonly chargedAs: ChargedAs;
}

/**
 * Runs work for the sender of a request as if it were a request to another route: with its limits, its cost and its usage. Throws
 * RATE_LIMITED if the sender has not enough left. A result with `units` corrects what was counted.
 */
export type ChargedAs = <T extends { units?: number }>(
  use: { route: { method: string; path: string; limit: RateLimit }; query: URLSearchParams },
  work: () => Promise<T>,
) => Promise<T>;

/** Path and query of a request, with the parameters that its route declares. */
export function addressOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  return query.size === 0 ? path : `${path}?${query}`;
}
