import type { IncomingMessage } from "node:http";
import type { Account, RefusedRequest, Source } from "../accounts/accounts.js";
import type { AppError, ErrorCode } from "../lib/errors.js";
import { agentFamily } from "./agents.js";
import { truncatedAddress } from "./callers.js";
import type { Charge } from "./charge.js";
import { localityOf } from "./hosts.js";
import type { Caller, Decision } from "./limiter.js";
import type { HttpRequest } from "./request.js";
import type { Target } from "./targets.js";

/** One request and what is known about it so far. */
export interface Exchange {
  message: IncomingMessage;
  /** Monotonic. */
  beganAt: number;
  method: string;
  target: Target;
  id: string;
  /** The caller by address. */
  address: Caller;
  /** Who sends it: the holder of a key, an account, or the address. */
  caller: Caller;
  account: Account | undefined;
  keyId: number | undefined;
  /** Why it cannot be responded to otherwise. */
  fault: AppError | undefined;
  /** What it was counted as; undefined before that, and if nothing is limited. */
  charge: Charge | undefined;
  /** The request to another route as which it appears in usage; see `ChargedAs`. */
  usedAs?: UsedAs;
  /** Whether a response was computed for this request, even if another one is sent. */
  isComputed: boolean;
}

interface UsedAs extends Pick<Exchange, "charge"> {
  name: Target["name"];
  status: number;
  code: ErrorCode | null;
  left: Decision | undefined;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether a method only reads. */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/** Headers that browsers send with a prefetch. */
const PREFETCH_HEADERS = ["sec-purpose", "purpose", "x-moz"] as const;

const isPrefetch = (headers: IncomingMessage["headers"]): boolean =>
  PREFETCH_HEADERS.some((name) => String(headers[name] ?? "").includes("prefetch"));

/** A request without a query, or without a form. */
export const NO_FIELDS = new URLSearchParams();

/** The sender of a shared request. */
const NOBODY: Caller = { kind: "anonymous", name: "" };
const NOWHERE: Source = { network: "", agent: "" };

/** The request as handlers see it, without its body. */
export function describe(exchange: Exchange): HttpRequest {
  const { message, method, target, caller, account, id } = exchange;
  const { path, params, query } = target;
  return {
    method: method === "HEAD" ? "GET" : method,
    path,
    params,
    query,
    headers: message.headers,
    caller,
    source: () => sourceOf(exchange),
    locality: () => localityOf(message),
    isView: method !== "HEAD" && !isPrefetch(message.headers),
    account,
    id,
    json: undefined,
    formFields: NO_FIELDS,
    chargedAs: () => Promise.reject(new Error("a shared response cannot depend on the caller")),
  };
}

/** A shared response must not depend on who asks first, so nothing of the sender is in its request. */
export function describeShared(exchange: Exchange): HttpRequest {
  return {
    ...describe(exchange),
    headers: {},
    caller: NOBODY,
    source: () => NOWHERE,
    locality: () => "remote",
    account: undefined,
  };
}

/** Where a request comes from, as far as events of accounts and the list of sessions keep it. */
function sourceOf({
  address,
  message,
}: {
  address: Caller;
  message: Pick<IncomingMessage, "headers">;
}): Source {
  return {
    network: truncatedAddress(address.name),
    agent: agentFamily(message.headers["user-agent"]),
  };
}

/** A refused request, for the log. Takes a microsecond, as there may be a flood of them. */
export function refusedEvent(
  event: RefusedRequest["event"],
  { address }: { address: Caller },
  detail: RefusedRequest["detail"] = {},
): RefusedRequest {
  return { event, network: truncatedAddress(address.name), detail };
}
