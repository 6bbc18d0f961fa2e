import { idText } from "../lists/lists.js";
import { z } from "../schema.js";
import { MAX_ITEMS } from "../watchlists/watchlists.js";

export { nameField } from "../lists/lists.js";

/** Parts of contracts that several routes of the API share. */

export const tokenParameter = z
  .string()
  .openapi({ description: "The token of the watchlist, or its share token, which only reads." });

/** Repositories for a watchlist, as they were written. */
export const idsField = z
  .array(idText)
  .max(MAX_ITEMS, `must be at most ${MAX_ITEMS}`)
  .refine((ids) => new Set(ids).size === ids.length, "must differ from each other");
