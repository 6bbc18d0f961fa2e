import { GROWTH_ORDER_COLUMNS } from "../rankings/rankings.js";
import { foldedLicense } from "./license-names.js";
import type { ListRow } from "./row.js";
import { type Filters, isGrowthSort, type ListSpec } from "./spec.js";

/** Checks rows against the list that they were selected for, as they may have changed since. */

/** Whether a row still meets the filters, and is still in the order of the list. */
export function belongs(row: ListRow, spec: ListSpec): boolean {
  if (row.repository.availability !== "AVAILABLE" || !meets(row, spec.filters)) return false;
  if (!isGrowthSort(spec.sort)) return true;
  const key = sortKeyOf(row, spec);
  return key !== null && (key > 0 || !GROWTH_ORDER_COLUMNS[spec.sort].positiveOnly);
}

function meets({ repository, trend }: ListRow, filters: Filters): boolean {
  const { provider, languages, topics, license, minStars, maxStars } = filters;
  const { createdAfter, createdBefore, pushedAfter, archived, fork } = filters;
  return (
    (provider === undefined || repository.provider === provider) &&
    (languages === undefined || languages.includes(repository.language?.toLowerCase() ?? "")) &&
    (topics === undefined || repository.topics.some((topic) => topics.includes(topic))) &&
    (license === undefined || foldedLicense(repository.license ?? "") === foldedLicense(license)) &&
    ((minStars === undefined && maxStars === undefined) || isIn(repository.stars, minStars, maxStars)) &&
    (createdAfter === undefined || isIn(repository.createdAt, createdAfter)) &&
    (createdBefore === undefined || isIn(repository.createdAt, 0, createdBefore - 1)) &&
    (pushedAfter === undefined || isIn(repository.pushedAt, pushedAfter)) &&
    (archived === undefined || (repository.archived ?? false) === archived) &&
    (fork === undefined || (repository.fork ?? false) === fork) &&
    (!filters.reliableOnly || trend?.reliable === true) &&
    (!filters.excludeAnomalous || trend?.anomalous === false)
  );
}

/** An unknown value is in no range. */
function isIn(value: number | null, from = 0, to = Number.POSITIVE_INFINITY): boolean {
  return value !== null && value >= from && value <= to;
}

/** Sorts rows into the order of the list: unknown keys last, equal ones by id. */
export function inOrder(rows: readonly ListRow[], spec: ListSpec): ListRow[] {
  const sign = spec.direction === "desc" ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [keyA, keyB] = [sortKeyOf(a, spec), sortKeyOf(b, spec)];
    if ((keyA === null) !== (keyB === null)) return keyA === null ? 1 : -1;
    return sign * ((keyA ?? 0) - (keyB ?? 0) || a.repository.id - b.repository.id);
  });
}

const PLAIN_KEYS = { stars: "stars", forks: "forks", pushed: "pushedAt", created: "createdAt" } as const;
const GAIN_KEYS = {
  "stars-gained": "starsCounted",
  "forks-gained": "forksCounted",
  "stars-delta": "starsDelta",
  "forks-delta": "forksDelta",
} as const;
const SCORE_KEYS = {
  trending: "trending",
  rising: "rising",
  "new-hot": "newHot",
  "fork-growth": "forkMomentum",
  activity: "activity",
} as const;

function sortKeyOf({ repository, trend }: ListRow, { sort }: ListSpec): number | null {
  switch (sort) {
    case "stars":
    case "forks":
    case "pushed":
    case "created":
      return repository[PLAIN_KEYS[sort]];
    case "stars-gained":
    case "forks-gained":
    case "stars-delta":
    case "forks-delta":
      return trend?.[GAIN_KEYS[sort]] ?? null;
    case "trending":
    case "rising":
    case "new-hot":
    case "fork-growth":
    case "activity":
      return trend?.scores[SCORE_KEYS[sort]] ?? null;
    case "relevance":
    case "added":
      throw new Error(`the index has no order ${sort}`);
  }
}
