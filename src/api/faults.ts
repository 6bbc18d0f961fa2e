import { HTTPException } from "hono/http-exception";
import { databaseFault } from "../database/database.js";
import { AppError } from "../errors.js";

/** Whatever was thrown, as an error that may be answered. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400) {
    return new AppError("INVALID_REQUEST", "The body is not JSON.", { cause: error });
  }
  if (databaseFault(error) !== undefined)
    return new AppError("UNAVAILABLE", "The database cannot answer now; try again.", { cause: error });
  return new AppError("INTERNAL", "Something went wrong here. The request id names it in the log.", {
    cause: error,
  });
}
