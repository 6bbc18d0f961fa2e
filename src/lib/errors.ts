/** Every error code of the API, with its HTTP status. No response has any other code. */
export const ERROR_STATUS = {
  VALIDATION_FAILED: 400,
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  INVALID_API_KEY: 401,
  FORBIDDEN: 403,
  REAUTHENTICATION_REQUIRED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  LIMIT_REACHED: 409,
  CURSOR_EXPIRED: 410,
  WATCHLIST_DELETED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  ADDRESS_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  MISDIRECTED_REQUEST: 421,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  HEADER_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** When each code is returned, for the documentation. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_FAILED: "A parameter, header or body field is not allowed",
  INVALID_REQUEST:
    "The request itself is wrong: a body that is not JSON, a wrong cursor, a malformed address, not exactly one Host, two different API keys",
  UNAUTHENTICATED: "The route needs a session, or an API key",
  INVALID_API_KEY: "The API key is malformed, unknown, revoked or expired",
  FORBIDDEN:
    "A change with a share token, or from the page of another site; sign-in by mail if it is off; a request to track by anybody but operators, where only they may: the message says which credentials it needs",
  REAUTHENTICATION_REQUIRED: "The route needs a sign-in within the last 15 minutes",
  NOT_FOUND: "No such repository, watchlist, key or path, or it belongs to another account",
  METHOD_NOT_ALLOWED: "The path has other methods; Allow lists them",
  CONFLICT: "Reserved; not used today",
  LIMIT_REACHED: "The watchlist is full, or the account has five active keys",
  CURSOR_EXPIRED: "All repositories may have changed since the cursor; read all again",
  WATCHLIST_DELETED: "The watchlist that was created with this Idempotency-Key was deleted",
  PRECONDITION_FAILED: "The watchlist has changed since it was read",
  PAYLOAD_TOO_LARGE: "The body is larger than 16 KiB",
  ADDRESS_TOO_LONG:
    "The address is longer than 8,000 characters, with its query, or has over 200 parameters; or its path is longer than 1,000 characters or 50 segments",
  UNSUPPORTED_MEDIA_TYPE: "The body is not application/json in UTF-8, or is compressed",
  RANGE_NOT_SATISFIABLE: "The file has no byte of the range; Content-Range has its length",
  MISDIRECTED_REQUEST:
    "The service does not respond under the requested Host; the operator can add it to SIDEREAL_ALLOWED_HOSTS",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was sent before with another body",
  RATE_LIMITED: "Too many requests; Retry-After says when to retry, details names the bucket",
  HEADER_TOO_LARGE:
    "A header is too large: Cookie over 8,192 characters; Authorization, X-API-Key, If-Match, If-None-Match, Accept, Accept-Encoding or X-Forwarded-For over 4,096; any of them over 200 parts; or the request line and all headers over 16 KiB or 100 lines",
  INTERNAL: "A fault of the service; the log has it under the request id",
  UNAVAILABLE: "The database is unavailable, or the service is overloaded; Retry-After says when to retry",
};

/** Where the page of the API reference describes a code. */
export function errorAnchor(code: ErrorCode): string {
  return `error-${code.toLowerCase().replaceAll("_", "-")}`;
}

export interface ErrorDetail {
  /** The parameter, header or body field, such as `sort` or `ids[3]`. */
  parameter: string;
  message: string;
  /** The allowed values, if there are few enough to list. */
  allowed?: readonly string[];
  /** The offending values, if several were given. */
  values?: readonly string[];
}

/** The error that modules throw deliberately. Callers see `message`, so it never contains SQL, paths or secrets. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Additional response headers, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: readonly ErrorDetail[]; cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): (typeof ERROR_STATUS)[ErrorCode] {
    return ERROR_STATUS[this.code];
  }
}

/** The code of an error of the system, such as ENOENT; undefined for others. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** A VALIDATION_FAILED error about one parameter. */
export function invalidParameter(
  parameter: string,
  message: string,
  extra: { allowed?: readonly string[]; values?: readonly string[] } = {},
): AppError {
  return new AppError("VALIDATION_FAILED", `${parameter}: ${message}`, {
    details: [{ parameter, message, ...extra }],
  });
}
