import { z } from "zod";
import { AppError, type ErrorDetail } from "./errors.js";

/** Replaces the library's own messages, in every schema of this process; a message that a schema gives wins. */
z.config({ customError: plainMessage });

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
]);

/** What is wrong with a value, as a sentence about its parameter: `must be at most 300 characters`. */
function plainMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${TYPE_WORDS.get(String(issue.expected)) ?? "of another type"}`;
    case "too_big":
      return `must ${limit("at most", issue.origin, issue.maximum)}`;
    case "too_small":
      return `must ${limit("at least", issue.origin, issue.minimum)}`;
    default:
      return "is not valid";
  }
}

function limit(bound: string, origin: unknown, value: unknown): string {
  const plural = Number(value) === 1 ? "" : "s";
  if (origin === "string") return `be ${bound} ${value} character${plural}`;
  if (origin === "array") return `have ${bound} ${value} item${plural}`;
  return `be ${bound} ${value}`;
}

/**
 * A failed validation as an error that names each parameter and what is allowed there. `location` stands for the whole, such
 * as `body`. `queries` are the values as they were sent, if they came from a query string.
 */
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
    // A parameter that may be repeated is a union, whose own message says how often.
    if ((queries?.[parameter]?.length ?? 0) > 1 && issue.code !== "invalid_union")
      return [{ parameter, message: "may be given only once" }];
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
