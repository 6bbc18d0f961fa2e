import { idText } from "../discovery/discovery.js";
import { z } from "../lib/schema.js";
import { MAX_ITEMS } from "../watchlists/watchlists.js";

/** Parameters shared by several routes of the API. */

export const tokenParameter = z
  .string()
  .openapi({ description: "The token of the watchlist, or its read-only share token." });

/** Ids of repositories to add to a watchlist, as sent. */
export const idsField = z
  .array(idText)
  .max(MAX_ITEMS, `must be at most ${MAX_ITEMS}`)
  .refine((ids) => new Set(ids).size === ids.length, "must differ from each other");
