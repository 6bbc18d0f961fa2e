/**
 * Reads and counts lists with the list index. What the index does not hold is read from the database: rare topics, and the rows,
 * which are checked against the list, as they may have changed since the index was built.
 */
import { sql } from "kysely";
import type { Database } from "../../database/database.js";
import { GROWTH_ORDER_COLUMNS } from "../../growth/growth.js";
import type { CountRequest, FacetCounts } from "./index/counters.js";
import type { ListIndex } from "./index/list-index.js";
import type { ListRow, RowReader } from "./rows.js";
import {
  EXACT_TOTAL,
  type Filters,
  foldedLicense,
  isGrowthSort,
  type ListSpec,
  type RowKey,
} from "./spec.js";

/** A page that was selected with the list index. */
export interface IndexedRows {
  rows: ListRow[];
  /** Number of matches, at most EXACT_TOTAL + 1. */
  total: number;
  /** Repositories in the scope, at most EXACT_TOTAL + 1; 0 for everything. */
  scoped: number;
  /** The row after which the next page begins; undefined at the end of the list. */
  last: RowKey | undefined;
}

interface IndexedReading {
  database: Database;
  rows: RowReader;
  index: ListIndex;
}

/** Statements for the rows of one page. More than one are needed only if repositories have left the list since. */
const MAX_READS = 4;

/**
 * Reads a page with the list index, usually in one statement; rare topics take one more. The rows are as they
 * are now: none contradicts the filters, and they are in order. Which rows it finds, and the total, are as old as the index.
 * Undefined if the index cannot serve the list.
 */
export async function readIndexed(
  { database, rows: reader, index }: IndexedReading,
  spec: ListSpec,
): Promise<IndexedRows | undefined> {
  const { scope, page, window } = spec;
  const rare = index.rareTopics(spec);
  const rareTopics = rare.length === 0 ? [] : await idsWithTopics(database, rare);
  if (rareTopics === undefined) return undefined;
  const matched = scope.kind === "found" ? scope.ids : undefined;
  const selection = index.select(spec, { scope: matched, rareTopics }, EXACT_TOTAL);
  if (selection === undefined) return undefined;
  const wanted = page.limit + 1;
  const rows: ListRow[] = [];
  for (let reads = 0; rows.length < wanted; reads++) {
    if (reads === MAX_READS) return undefined;
    const ids = selection.take(wanted - rows.length);
    if (ids.length === 0) break;
    for (const row of await reader.read(ids, window)) if (belongs(row, spec)) rows.push(row);
  }
  // The rows of the page are the first ones of the index, so that the next page misses none. They are sorted as they are now.
  const shown = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1)?.repository.id : undefined;
  return {
    rows: spec.sort === "relevance" ? shown : inOrder(shown, spec),
    total: selection.total,
    scoped: matched?.length ?? 0,
    last: last === undefined ? undefined : { sortKey: selection.keyOf(last), id: last },
  };
}

/**
 * Counts the matches of a list by the values of its filters, as they were when the list index was built. Undefined without an
 * index that is recent: SQL would scan the catalogue. `revision` is that of the catalogue.
 */
export async function countIndexed(
  { database, index }: { database: Database; index: ListIndex },
  spec: ListSpec,
  { request, revision }: { request: CountRequest; revision: number },
): Promise<FacetCounts | undefined> {
  const { scope } = spec;
  if (scope.kind === "watchlist") return undefined;
  const isKnown = index.freshness(revision) !== "none";
  const rare = isKnown ? index.rareTopics(spec) : [];
  const rareTopics = rare.length === 0 ? [] : await idsWithTopics(database, rare);
  if (!isKnown || rareTopics === undefined) {
    index.missCounts();
    return undefined;
  }
  return index.count(spec, { scope: scope.kind === "found" ? scope.ids : undefined, rareTopics }, request);
}

/**
 * The ids of repositories with one of these topics; undefined if there are more than EXACT_TOTAL. They are read as one row, which
 * is cheaper than thousands.
 */
async function idsWithTopics(
  { dialect, read }: Database,
  topics: readonly string[],
): Promise<number[] | undefined> {
  const tagged = sql`select repository_id as id from repository_topics where topic in (${sql.join(topics)})
    limit ${EXACT_TOTAL + 1}`;
  const { rows } = await sql<{ ids: string }>`
    select ${dialect.jsonArray(sql`id`)} as ids from (${tagged}) as found`.execute(read);
  const ids: number[] = JSON.parse(rows[0]?.ids ?? "[]");
  return ids.length > EXACT_TOTAL ? undefined : ids;
}

/** Whether a row still meets the filters, and is still in the order of the list. */
function belongs(row: ListRow, spec: ListSpec): boolean {
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
function inOrder(rows: readonly ListRow[], spec: ListSpec): ListRow[] {
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
