import { dayParameter, idText } from "../discovery/discovery.js";
import { invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { type Days, daysProblem } from "../repositories/repositories.js";
import { MAX_ITEMS } from "../watchlists/watchlists.js";

/** Parameters shared by several routes of the API. */

export const tokenParameter = z
  .string()
  .openapi({ description: "The token of the watchlist, or its read-only share token." });

/** Ids of repositories to add to a watchlist, each once. */
export const idsField = z
  .array(idText)
  .max(MAX_ITEMS, `must be at most ${MAX_ITEMS}`)
  .transform((ids) => [...new Set(ids)])
  .openapi({ description: "Ids of repositories; duplicates count once." });

/** The days of a chart or series. See `checkDays`. */
export const daysParameters = {
  from: dayParameter.optional().openapi({ description: "First day (UTC), instead of window." }),
  to: dayParameter.optional().openapi({ description: "Last day, not before from." }),
};

/** Throws VALIDATION_FAILED for days in the wrong order. */
export function checkDays(days: Days): void {
  const problem = daysProblem(days);
  if (problem !== undefined) throw invalidParameter("to", problem);
}
