/** Every error code of the API and the HTTP status it decides. The list is closed: nothing else is ever answered. */
export const ERROR_STATUS = {
  VALIDATION_FAILED: 400,
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  INVALID_API_KEY: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  LIMIT_REACHED: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One thing that is wrong with a request: where it is, and what would be allowed there. */
export interface ErrorDetail {
  /** The parameter, header or body field, such as `sort` or `ids[3]`. */
  parameter: string;
  message: string;
  /** The allowed values, where they are few enough to list. */
  allowed?: readonly string[];
  /** The offending values, where several were given. */
  values?: readonly string[];
}

/** The one error a module throws on purpose. `message` is shown to callers, so it never holds SQL, paths or secrets. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Further response headers, such as `Allow`. */
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
