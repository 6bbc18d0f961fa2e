import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Account, Source } from "../accounts/accounts.js";
import type { InTurn } from "../loop-turns.js";
import type { Caller } from "../metering/metering.js";
import type { Ask } from "./inner-request.js";

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
  /** Runs work that waits for the thread that renders, in a fair queue of its own; other responses are computed meanwhile. */
  readonly rendering: InTurn;
  /** The same for the thread in which SQLite scans the catalogue. */
  readonly scanning: InTurn;
  /** Sends a request of the same sender to another route, with the limits, the cache and the usage of that route. */
  readonly ask: Ask;
}

/** Path and query of a request, with the parameters that its route declares. */
export function addressOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** All texts of two characters. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
/** Bytes of ten characters of base64url, rounded up. */
const PREFIX_BYTES = 8;

/** Makes ids of requests: ten random characters of base64url, drawn again every 4,096 ids, and two that count. */
export function requestIds(): () => string {
  let prefix = "";
  let used = PAIRS.length;
  return () => {
    if (used === PAIRS.length) {
      prefix = randomBytes(PREFIX_BYTES).toString("base64url").slice(0, 10);
      used = 0;
    }
    return prefix + PAIRS[used++];
  };
}
