import { RANKINGS, WINDOWS } from "../growth/growth.js";
import { DAY_MS } from "../lib/clock.js";
import { oneOf, z } from "../lib/schema.js";
import { cleanText, providerName, repositoryId } from "../repositories/repositories.js";
import { FACET_SORTS } from "./facets.js";

/** Parameters that several routes share, so that a name always has the same rule. */

const CONTROL = /\p{Cc}/gu;

/** Length in characters, as the contract counts them: one beyond U+FFFF counts once. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** A text that is compared exactly. */
export const exactText = z
  .string()
  .refine((text) => text !== "" && lengthOf(text) <= 100, "must be 1 to 100 characters")
  .refine((text) => !/\p{Cc}/u.test(text), "must not contain control characters")
  .openapi({ type: "string", minLength: 1, maxLength: 100 });

/** A name that a person gives to a watchlist or key. */
export const nameField = z
  .string()
  .transform((text) => text.normalize("NFC").trim())
  .refine((text) => text !== "" && lengthOf(text) <= 100, "must be 1 to 100 characters")
  .refine((text) => text === (cleanText(text, text.length) ?? ""), "must not contain control characters")
  .openapi({ type: "string", minLength: 1, maxLength: 100 });

const wholeNumber = (min: number, max: number) =>
  z.string().transform((text, context) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue({ code: "custom", message: `must be a whole number from ${min} to ${max}` });
    return z.NEVER;
  });

const integerSchema = (minimum: number, maximum: number, more: Record<string, unknown> = {}) => ({
  type: "integer" as const,
  minimum,
  maximum,
  ...more,
});

/** A whole number in a query string. */
export function count(min: number, max: number) {
  return wholeNumber(min, max).openapi(integerSchema(min, max));
}

export const limitParameter = wholeNumber(1, 100)
  .default(25)
  .openapi({ ...integerSchema(1, 100, { default: 25 }), description: "Maximum number of rows." });

export const pageParameter = wholeNumber(1, 10_000)
  .optional()
  .openapi({
    ...integerSchema(1, 10_000, { example: 2 }),
    description: "Number of the page. page × limit may be at most 10,000; use cursor to go further.",
  });

export const cursorParameter = z
  .string()
  .max(300, "must be at most 300 characters")
  .optional()
  .openapi({ description: "meta.nextCursor of the previous page. All other parameters must stay the same." });

export const windowParameter = z.enum(WINDOWS).default("24h").openapi({
  description: "The window over which growth is measured. Lists with sort=rising have 24h and 7d.",
});

/** A ranking, by default `trending`. */
export const rankingParameter = oneOf(RANKINGS).default("trending");

/** The order of languages or topics. */
export const facetSortParameter = oneOf(FACET_SORTS, { repositories: "repository-count" }).default(
  "repository-count",
);

export const providerParameter = z
  .string()
  .transform((text, context) => {
    const name = providerName(text);
    if (name !== undefined) return name;
    context.addIssue({
      code: "custom",
      message: "must be the name of a provider, such as github, gitlab or codeberg",
    });
    return z.NEVER;
  })
  .openapi({
    type: "string",
    description: "A provider, in any case: github, gitlab, codeberg or one added by the operator.",
  });

const ID_SCHEMA = { type: "string" as const, pattern: "^[1-9][0-9]{0,18}$", example: "42" };

/** An id as text: the largest ones are not exact as numbers, and an error must repeat them exactly. */
export const idText = z
  .string()
  .refine((text) => repositoryId(text) !== undefined, "must be an id: 1 to 19 digits without a leading 0")
  .openapi(ID_SCHEMA);

/** An id to look up; 0 for one that no repository can have. */
export const idParameter = idText.transform((text) => repositoryId(text) ?? 0).openapi(ID_SCHEMA);

/** A day or time, as milliseconds since 1970. A day means its midnight in UTC. */
export const timeParameter = z
  .string()
  .transform((text, context) => {
    const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
    const ms = isTime ? Date.parse(text) : Number.NaN;
    // A day that does not exist, such as February 30, would roll over to the next month.
    if (!Number.isNaN(ms) && Math.abs(ms - Date.parse(text.slice(0, 10))) < 2 * DAY_MS && isRealDay(text))
      return ms;
    context.addIssue({
      code: "custom",
      message: "must be a day (2026-04-30) or a time with a zone (2026-04-30T12:00:00Z)",
    });
    return z.NEVER;
  })
  .openapi({ type: "string", example: "2026-04-30" });

/** A day, a time or milliseconds since 1970: its first instant, or its last. */
export const instantParameter = (edge: "first" | "last") =>
  z
    .string()
    .transform((text, context) => {
      if (/^\d{11,14}$/.test(text)) return Number(text);
      const { data, error } = timeParameter.safeParse(text);
      if (data !== undefined) return text.length > 10 || edge === "first" ? data : data + DAY_MS - 1;
      for (const { message } of error.issues)
        context.addIssue({ code: "custom", message: `${message}, or milliseconds since 1970` });
      return z.NEVER;
    })
    .openapi({ type: "string", example: "2026-04-30" });

/** A day, as the time at which it begins in UTC. */
export const dayParameter = z
  .string()
  .transform((text, context) => {
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at) && isRealDay(text)) return at;
    context.addIssue({ code: "custom", message: "must be a day, such as 2026-04-30" });
    return z.NEVER;
  })
  .openapi({ type: "string", format: "date", example: "2026-04-30" });

function isRealDay(text: string): boolean {
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
}

/** A parameter that may be repeated and matches any of its values: in lower case, each once, sorted. */
export function repeatable(description: string, example: string) {
  return z
    .union([exactText.transform((one) => [one]), z.array(exactText).max(20)], {
      error: "must be 1 to 100 characters, at most 20 times",
    })
    .transform((values) => [...new Set(values.map((value) => value.toLowerCase()))].sort())
    .openapi({
      type: "array",
      maxItems: 20,
      items: { type: "string", minLength: 1, maxLength: 100 },
      description,
      example: [example],
    });
}

/** A search text. Control characters become spaces; nothing in it is syntax. */
export function searchText(maxLength: number) {
  return z
    .string()
    .refine((text) => lengthOf(text) <= maxLength, `must be at most ${maxLength} characters`)
    .transform((text) => text.replaceAll(CONTROL, " ").normalize("NFC").trim())
    .openapi({ type: "string", maxLength });
}
