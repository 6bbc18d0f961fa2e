import { HTTPException } from "hono/http-exception";
import { AppError } from "../errors.js";

/** Faults of a store that will pass: busy, full, out of reach. */
const PASSING =
  /SQLITE_BUSY|SQLITE_FULL|database is locked|disk is full|ECONNREFUSED|ECONNRESET|57P0[123]|53300|timeout/i;

/** Whatever was thrown, as an error that may be answered. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400) {
    return new AppError("INVALID_REQUEST", "The body is not JSON.", { cause: error });
  }
  const text = error instanceof Error ? `${error.message} ${"code" in error ? String(error.code) : ""}` : "";
  if (PASSING.test(text))
    return new AppError("UNAVAILABLE", "The database cannot answer now; try again.", { cause: error });
  return new AppError("INTERNAL", "Something went wrong here. The request id names it in the log.", {
    cause: error,
  });
}
