import type { Clock } from "../clock.js";
import type { ErrorCode } from "../errors.js";
import type { Decision, KeyedRequest } from "../metering/metering.js";
import type { Charge } from "./charge.js";
import { allowanceOf } from "./hits.js";
import type { Exchange } from "./identity.js";

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
