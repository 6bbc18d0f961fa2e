import { z } from "zod";
import { AppError, type ErrorDetail } from "./errors.js";

/** Replaces the library's messages in every schema of this process, unless a schema has its own. */
z.config({ customError: plainMessage });

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
]);

/** The error of a value as a clause about its parameter: `must be at most 300 characters`. */
function plainMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${TYPE_WORDS.get(String(issue.expected)) ?? "of another type"}`;
    case "too_big":
      return `must ${limit("at most", issue.origin, issue.maximum)}`;
    case "too_small":
      return `must ${limit("at least", issue.origin, issue.minimum)}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `must be one of ${issue.options.join(", ")}` : "is not valid";
    case "invalid_format":
      return issue.format === "url" ? "must be an address such as https://example.org" : "is not valid";
    case "unrecognized_keys":
      return issue.inst instanceof z.ZodObject
        ? `is not known; known are ${Object.keys(issue.inst.shape).join(", ")}`
        : "is not known";
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
 * The problem with each part of an input, in plain words, and the values that it may have. `location` names the whole input, such
 * as `body`. `queries`: the values as sent, if they are from a query string.
 */
export function problemsOf(
  error: z.core.$ZodError,
  location: string,
  queries?: Readonly<Record<string, string[]>>,
): ErrorDetail[] {
  return error.issues.flatMap((issue): ErrorDetail[] => {
    const path = issue.path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("")
      .replace(/^\./, "");
    const parameter = path === "" ? location : path;
    const { message } = issue;
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({ parameter: key.slice(0, 100), message }));
    // A repeatable parameter is a union with its own message.
    if ((queries?.[parameter]?.length ?? 0) > 1 && issue.code !== "invalid_union")
      return [{ parameter, message: "may be given only once" }];
    return [
      { parameter, message, ...(issue.code === "invalid_value" && { allowed: issue.values.map(String) }) },
    ];
  });
}

/** A failed validation as an error that lists the problems. */
export function validationError(...args: Parameters<typeof problemsOf>): AppError {
  const details = problemsOf(...args);
  const first = details[0];
  return new AppError(
    "VALIDATION_FAILED",
    `${first?.parameter ?? args[1]}: ${first?.message ?? "is not valid"}`,
    { details },
  );
}
