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

/** The part of the API reference that describes a code. */
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
