/**
 * The sorts of lists, each declared once. They compare columns of the catalogue in memory: `GROWTH_ORDER_COLUMNS` declares
 * those of growth, `PlainColumn` those of facts. How pages offer and show a sort is in `web/components/listing.tsx`.
 */
import { GROWTH_ORDER_COLUMNS, type GrowthOrder, RANKING_DEFINITIONS } from "../../growth/growth.js";
import type { PlainColumn } from "../memory/columns.js";

/** Sorts of lists: all but `added`, which is the order of a watchlist. */
export type Sort = "relevance" | GrowthOrder | PlainColumn;

interface SortDefinition {
  label: string;
  /** Whether watchlists offer it. */
  isInWatchlists?: true;
}

/** Every sort, in the order in which they are offered. */
export const SORT_DEFINITIONS: Readonly<Record<Sort | "added", SortDefinition>> = {
  added: { label: "Added", isInWatchlists: true },
  relevance: { label: "Best match" },
  trending: { label: RANKING_DEFINITIONS.trending.label, isInWatchlists: true },
  rising: { label: RANKING_DEFINITIONS.rising.label },
  "new-hot": { label: RANKING_DEFINITIONS["new-hot"].label },
  "fork-growth": { label: RANKING_DEFINITIONS["fork-growth"].label },
  activity: { label: "Active" },
  "stars-gained": { label: RANKING_DEFINITIONS["stars-gained"].label, isInWatchlists: true },
  "forks-gained": { label: RANKING_DEFINITIONS["forks-gained"].label },
  "stars-delta": { label: "Stars gained, raw" },
  "forks-delta": { label: "Forks gained, raw" },
  stars: { label: RANKING_DEFINITIONS.stars.label, isInWatchlists: true },
  forks: { label: "Forks", isInWatchlists: true },
  pushed: { label: "Last push", isInWatchlists: true },
  created: { label: "Newest", isInWatchlists: true },
  updated: { label: "Last read" },
};

const NAMES = Object.keys(SORT_DEFINITIONS) as (Sort | "added")[];

/** Every sort that a list of repositories offers. */
export const SORTS = NAMES.filter(isSort);

export const WATCHLIST_SORTS = NAMES.filter((name) => SORT_DEFINITIONS[name].isInWatchlists);

export function isSort(text: string): text is Sort {
  return text !== "added" && Object.hasOwn(SORT_DEFINITIONS, text);
}

/** Whether a sort is by growth, or by a score of it, in a window. */
export function isGrowthSort(sort: string): sort is GrowthOrder {
  return Object.hasOwn(GROWTH_ORDER_COLUMNS, sort);
}

/** The default order of a list: by trending score, then all others by stars. */
export const DEFAULT_SORT = "trending-first";
