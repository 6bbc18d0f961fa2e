import { ERROR_STATUS } from "../errors.js";
import type { Caller, Decision, KeyedRequest } from "../metering/metering.js";
import type { StoredAnswer } from "./answer.js";
import type { FoundRoute } from "./route-table.js";

/** A request with a valid key, and what it was answered with. */
export interface AnsweredRequest {
  keyId: number;
  /** Whose allowance it counted in. */
  caller: Caller;
  /** The caller by address. */
  address: Caller;
  route: FoundRoute;
  request: Request;
  /** As it is sent, with all its headers. */
  response: Response;
  /** What the response was made of. */
  made: StoredAnswer;
  /** What is left of its limits; undefined where nothing is limited. */
  left: Decision | undefined;
  /** Time that answering took. */
  ms: number;
}

/** A request as usage counts it. */
export function countKeyed(answered: AnsweredRequest): KeyedRequest {
  const { keyId, caller, address, route, request, response, made, left, ms } = answered;
  const { status, headers } = response;
  const hasBody = request.method !== "HEAD" && status !== 204 && status !== 304;
  return {
    keyId,
    route: route.name,
    status,
    bytes: hasBody ? Number(headers.get("content-length") ?? 0) : 0,
    durationMs: ms,
    // Where the request counted against its address, the numbers are not the key's.
    allowance:
      caller.kind === "key" && left !== undefined ? { bucket: left.policy.bucket, ...left.own } : undefined,
    code: status >= 400 ? codeOf(made.body) : null,
    path: new URL(request.url).pathname,
    caller: address.name,
    userAgent: request.headers.get("user-agent"),
  };
}

/** The code in the body of an error, in either form; null where there is none of the closed list. */
function codeOf(body: Buffer): string | null {
  const found = /"code":"([A-Z_]{1,40})"/.exec(body.toString("latin1", 0, 4_000))?.[1];
  return found !== undefined && Object.hasOwn(ERROR_STATUS, found) ? found : null;
}
