import type { components } from "./schema.js";

type Failure = components["schemas"]["Error"]["error"];

/** The codes of the service; the list grows only with notice. */
export type ServiceErrorCode = Failure["code"];

/**
 * Failures that no code of the service describes: NETWORK, no complete response arrived; TIMEOUT, none in time;
 * UNEXPECTED_RESPONSE, it is not of this API, such as the page of a proxy.
 */
export type ClientErrorCode = "NETWORK" | "TIMEOUT" | "UNEXPECTED_RESPONSE";

export type ErrorCode = ServiceErrorCode | ClientErrorCode;

/** One problem with a request: the parameter, and often the values that are allowed. */
export type ErrorDetail = NonNullable<Failure["details"]>[number];

/** Every failure of a call, except an abort by the caller. Decide by `code`; messages may be reworded. */
export class SiderealError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The id under which the service may have logged the request. */
  readonly requestId: string | undefined;
  /** Empty if the service named no parameter. */
  readonly details: readonly ErrorDetail[];
  /** Seconds after which the same request may succeed; undefined if unknown. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    facts: {
      status?: number | undefined;
      requestId?: string | undefined;
      details?: readonly ErrorDetail[] | undefined;
      retryAfter?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "SiderealError";
    this.code = code;
    this.status = facts.status ?? 0;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfter = facts.retryAfter;
  }
}

/** The error of a response with a status of 400 or more. `now` is the time, for a `Retry-After` that is a date. */
export function responseError(response: Response, text: string, now: number): SiderealError {
  const { status, headers } = response;
  const facts = {
    status,
    retryAfter: retryAfterOf(headers.get("Retry-After"), now),
    requestId: headers.get("X-Request-Id") ?? undefined,
  };
  const failure = failureIn(text);
  return failure === undefined
    ? new SiderealError("UNEXPECTED_RESPONSE", `The response has the status ${status}.`, facts)
    : new SiderealError(failure.code, failure.message, { ...facts, ...failure });
}

function failureIn(text: string): Failure | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error.code === "string" && typeof error.message === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds in a Retry-After header, which is a number of seconds or a date; undefined without a usable one. */
function retryAfterOf(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
