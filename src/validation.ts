import type { z } from "zod";
import { AppError, type ErrorDetail } from "./errors.js";

/** The places of a failed validation, as an error that names each. `queries`: what was given, where it was the query. */
export function validationError(
  error: z.core.$ZodError,
  location: string,
  queries?: Readonly<Record<string, string[]>>,
): AppError {
  const details = error.issues.flatMap((issue): ErrorDetail[] => {
    const path = issue.path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("")
      .replace(/^\./, "");
    const parameter = path === "" ? location : path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ parameter: key.slice(0, 100), message: "is not known" }));
    }
    // A parameter that may be repeated is a union, whose message tells how often.
    if ((queries?.[parameter]?.length ?? 0) > 1 && issue.code !== "invalid_union")
      return [{ parameter, message: "may be given only once" }];
    if (issue.code === "invalid_type" && issue.message.endsWith("received undefined"))
      return [{ parameter, message: "is required" }];
    if (issue.code === "invalid_value") {
      const allowed = issue.values.map(String);
      return [{ parameter, message: `must be one of ${allowed.join(", ")}`, allowed }];
    }
    return [{ parameter, message: issue.message }];
  });
  const first = details[0];
  return new AppError(
    "VALIDATION_FAILED",
    `${first?.parameter ?? location}: ${first?.message ?? "is not valid"}`,
    { details },
  );
}
