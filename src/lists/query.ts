import { z } from "@hono/zod-openapi";
import { GROWTH_ORDERS, type GrowthOrder } from "../rankings/rankings.js";
import {
  count,
  cursorParameter,
  exactText,
  limitParameter,
  pageParameter,
  providerParameter,
  repeatable,
  searchText,
  timeParameter,
  windowParameter,
} from "./parameters.js";

/** What a list can be sorted by. */
export const SORTS = [
  "relevance",
  "trending",
  "rising",
  "new_hot",
  "activity",
  "stars_gained",
  "forks_gained",
  "stars",
  "forks",
  "pushed",
  "created",
] as const;
export type Sort = (typeof SORTS)[number];

const flag = z.enum(["true", "false", "any"]);
const choice = z.enum(["true", "false"]).default("false");
const MAX_STARS = 1e12;

/** Parameters of every list of repositories. */
export const listQuery = z.object({
  q: searchText(200)
    .optional()
    .openapi({ description: "Words that must all occur; the last may be the beginning of one." }),
  provider: providerParameter.optional(),
  language: repeatable("Any of these languages, whatever their case."),
  topic: repeatable("Any of these topics."),
  license: exactText.optional().openapi({ description: "SPDX expression, exactly." }),
  minStars: count(0, MAX_STARS).optional(),
  maxStars: count(0, MAX_STARS).optional(),
  createdAfter: timeParameter.optional(),
  createdBefore: timeParameter.optional(),
  pushedAfter: timeParameter.optional(),
  archived: flag
    .optional()
    .openapi({ description: "Without it plain sorts hold all; sorts by growth leave archived ones out." }),
  fork: flag
    .optional()
    .openapi({ description: "Without it plain sorts hold all; sorts by growth leave forks out." }),
  sort: z
    .enum(SORTS)
    .optional()
    .openapi({ description: "relevance with q (and only then), else trending, unless given." }),
  reliableOnly: choice.openapi({ description: "Only repositories whose trend in the window is reliable." }),
  excludeAnomalous: choice.openapi({ description: "Only repositories without an anomaly in the window." }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "Not for relevance." }),
  window: windowParameter,
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

/** Whether a sort is by growth. */
export function isGrowthOrder(sort: Sort): sort is GrowthOrder {
  return (GROWTH_ORDERS as readonly string[]).includes(sort);
}

export type ListQuery = z.output<typeof listQuery>;

/** What a watchlist can be sorted by. */
export const WATCHLIST_SORTS = [
  "added",
  "trending",
  "stars_gained",
  "stars",
  "forks",
  "pushed",
  "created",
] as const;

/** Parameters of the repositories of a watchlist. */
export const watchlistQuery = z.object({
  window: windowParameter,
  sort: z.enum(WATCHLIST_SORTS).default("added").openapi({
    description: "trending and stars_gained are of the window; what has no trend in it comes last.",
  }),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "asc for added, desc for the others, unless given." }),
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

export type WatchlistQuery = z.output<typeof watchlistQuery>;
