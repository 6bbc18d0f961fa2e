import { isoTime } from "../clock.js";
import type { ListQuery } from "./query.js";

/** The filters of a query, without its sort, window and page. */
export type ListFilters = Omit<ListQuery, "sort" | "order" | "window" | "limit" | "page" | "cursor">;

/** Filters with a single value, in the order in which they are written. */
const SINGLE = ["license", "minStars", "maxStars", "archived", "fork"] as const;
const TIMES = ["createdAfter", "createdBefore", "pushedAfter"] as const;

/** The filters as canonical parameters: no defaults, one case, one order. So equal lists have equal addresses. */
export function filterParameters(filters: ListFilters): URLSearchParams {
  const parameters = new URLSearchParams();
  if (filters.q) parameters.set("q", filters.q);
  if (filters.provider !== undefined) parameters.set("provider", filters.provider.toLowerCase());
  for (const name of ["language", "topic"] as const)
    for (const value of distinct(filters[name])) parameters.append(name, value);
  for (const name of SINGLE) if (filters[name] !== undefined) parameters.set(name, String(filters[name]));
  for (const name of TIMES) if (filters[name] !== undefined) parameters.set(name, timeText(filters[name]));
  for (const name of ["verbatim", "reliableOnly", "excludeAnomalous"] as const)
    if (filters[name] === "true") parameters.set(name, "true");
  return parameters;
}

/** The filters in English, such as `language rust or go, at least 100 stars`; empty without filters. */
export function filterWords(filters: ListFilters): string {
  const { q, provider, license, minStars, maxStars, archived, fork } = filters;
  const words = {
    matching: q && `matching “${q}”`,
    provider: provider && `on ${provider.toLowerCase()}`,
    language: filters.language && `language ${distinct(filters.language).join(" or ")}`,
    topic: filters.topic && `topic ${distinct(filters.topic).join(" or ")}`,
    license: license && `license ${license}`,
    minStars: minStars !== undefined && `at least ${format.format(minStars)} stars`,
    maxStars: maxStars !== undefined && `at most ${format.format(maxStars)} stars`,
    createdAfter: filters.createdAfter !== undefined && `created since ${timeText(filters.createdAfter)}`,
    createdBefore: filters.createdBefore !== undefined && `created before ${timeText(filters.createdBefore)}`,
    pushedAfter: filters.pushedAfter !== undefined && `pushed since ${timeText(filters.pushedAfter)}`,
    archived: archived && { true: "archived", false: "not archived", any: "archived or not" }[archived],
    fork: fork && { true: "forks", false: "no forks", any: "forks or not" }[fork],
    reliableOnly: filters.reliableOnly === "true" && "reliable growth only",
    excludeAnomalous: filters.excludeAnomalous === "true" && "without unusual growth",
  };
  return Object.values(words)
    .filter((part) => typeof part === "string" && part !== "")
    .join(", ");
}

const format = new Intl.NumberFormat("en-US");

/** Languages and topics ignore case. */
function distinct(values: readonly string[] | undefined): string[] {
  return [...new Set(values?.map((value) => value.toLowerCase()))].sort();
}

/** A time as text; midnight in UTC as the day alone. */
function timeText(ms: number): string {
  return isoTime(ms).replace("T00:00:00.000Z", "");
}
