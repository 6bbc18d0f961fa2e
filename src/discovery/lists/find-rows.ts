/** Finds the rows of a page: does the search of a list, chooses a plan and says why, and carries it out. */
import type { Database } from "../../database/database.js";
import type { Rankings } from "../rankings.js";
import type { Found, Search } from "../search/search.js";
import type { Freshness, ListIndex } from "./index/list-index.js";
import { type IndexedRows, readIndexed } from "./indexed.js";
import { type KnownList, spell } from "./known.js";
import type { RowReader } from "./rows.js";
import { beginOf, EXACT_TOTAL, type Filters, type ListSpec, relevanceAt } from "./spec.js";
import { countMatches, type Finder, findPage, isSelective, type SqlPlan } from "./sql.js";

/** What lists are read from. */
export interface Reading {
  database: Database;
  rankings: Rankings;
  rows: RowReader;
  /** Absent: all lists are found with SQL alone. */
  index?: ListIndex;
  /** Size of the catalogue from which lists use `Database.scan`; default 20,000. */
  scansFrom?: number;
}

/** In a smaller catalogue no statement takes long enough to be worth another thread. */
const SCANS_FROM = 20_000;

/** A page of a list. */
interface FoundRows extends IndexedRows {
  plan: Plan;
}

interface Finding {
  known: KnownList;
  revision: number;
}

/** Finds a page by the plan chosen, or by another one if that does not suffice. */
export async function findRows(
  reading: Reading,
  spec: ListSpec,
  { known, revision }: Finding,
): Promise<FoundRows> {
  const { database, index, rows } = reading;
  const freshness = index?.freshness(revision) ?? "none";
  const plan = choosePlan(spec, { total: known.total, freshness });
  if (plan.plan === "index" && index !== undefined) {
    const found = await readIndexed({ database, rows, index }, spec);
    if (found !== undefined) return { ...found, plan };
  }
  const spelled = await spell(reading, spec, known);
  const { dialect, read, scan } = database;
  const scans = mayReadMany(spec) && isLarge(reading, known) && scan !== read;
  const finder: Finder = { dialect, read: scans ? scan : read };
  if (mustCount(spelled, known.total))
    known.total = await count({ finder, index }, { spec: spelled, freshness });
  return findWithSql({ finder, rows }, spelled, known);
}

function isLarge({ scansFrom = SCANS_FROM }: Reading, { catalogue: { summary } }: KnownList): boolean {
  return (summary?.repositories ?? 0) >= scansFrom;
}

async function findWithSql(
  reading: { finder: Finder; rows: RowReader },
  spec: ListSpec,
  known: KnownList,
): Promise<FoundRows> {
  const { finder, rows } = reading;
  const plan = choosePlan(spec, { total: known.total, freshness: "none" });
  const found = await findPage(finder, spec, plan.plan === "walk" ? "walk" : "gather");
  if (plan.plan === "gather" && spec.scope.kind === "all" && known.total === undefined) {
    known.total = found.total ?? 0;
    if (known.total > EXACT_TOTAL) return findWithSql(reading, spec, known);
  }
  const { limit } = spec.page;
  const keys = found.keys.slice(0, limit);
  return {
    rows: await rows.read(
      keys.map(({ id }) => id),
      spec.window,
    ),
    total: found.total ?? known.total ?? 0,
    scoped: found.scoped,
    last: found.keys.length > limit ? keys.at(-1) : undefined,
    plan,
  };
}

/** Counts the matches, up to EXACT_TOTAL + 1. That there are more can be known from the index even if it is not current. */
async function count(
  { finder, index }: { finder: Finder; index: ListIndex | undefined },
  { spec, freshness }: { spec: ListSpec; freshness: Freshness },
): Promise<number> {
  if (freshness === "recent") {
    const total = index?.select(spec, { rareTopics: [] }, EXACT_TOTAL)?.total ?? 0;
    if (total > EXACT_TOTAL) return total;
  }
  return countMatches(finder, spec);
}

/**
 * How a page is read, and why.
 * - `index`: select the ids of the page with the list index, and read their rows.
 * - `gather`: find all matches by the most selective filter, sort them, cut out the page.
 * - `walk`: read the database's index of the order and test each row until the page is full.
 */
export interface Plan {
  plan: "index" | SqlPlan;
  reason: string;
}

const INDEXED: Plan = { plan: "index", reason: "the index is of the present revision" };
const INDEXED_LATELY: Plan = {
  plan: "index",
  reason: "the index is some minutes old at most, and SQL would read many rows",
};
const WALK: Plan = { plan: "walk", reason: `more than ${EXACT_TOTAL} matches` };
const FEW: Plan = { plan: "gather", reason: `at most ${EXACT_TOTAL} matches` };
const IN_ORDER: Plan = { plan: "gather", reason: "the search gives the order" };
const COUNTS: Plan = { plan: "gather", reason: "the filters are selective, and it counts as well" };

/** Chooses the plan of a page. `total`: undefined if gathering the matches counts them; `freshness`: of the list index. */
function choosePlan(
  { scope, filters }: ListSpec,
  { total, freshness }: { total: number | undefined; freshness: Freshness },
): Plan {
  const isSearch = scope.kind === "found";
  if (scope.kind === "all" || isSearch) {
    if (freshness === "current") return INDEXED;
    if (freshness === "recent" && (isSearch || isSelective(filters) || isTrusted(filters)))
      return INDEXED_LATELY;
  }
  if (scope.kind !== "all") return { plan: "gather", reason: `the scope "${scope.kind}" is bounded` };
  if (total === undefined) return COUNTS;
  return total > EXACT_TOTAL ? WALK : FEW;
}

/** Whether the matches must be counted before one of the SQL plans can be chosen. */
function mustCount({ scope, filters }: ListSpec, total: number | undefined): boolean {
  return scope.kind === "all" && total === undefined && !isSelective(filters);
}

/** Whether SQL may read very many rows to find a page: the matches of a search, or rows that the filters leave out. */
function mayReadMany({ scope, filters }: ListSpec): boolean {
  if (scope.kind === "all") return isSelective(filters) || isTrusted(filters);
  return scope.kind === "found";
}

function isTrusted({ reliableOnly, excludeAnomalous }: Filters): boolean {
  return reliableOnly === true || excludeAnomalous === true;
}

/** Does the search of a list; undefined without one. `all`: finds all matches even if the page needs only the first. */
export async function searchFor(search: Search, spec: ListSpec, all: boolean): Promise<Found | undefined> {
  const { scope } = spec;
  if (scope.kind !== "search") return undefined;
  // In the order of the search, one match after the page shows that there are more.
  const limit = isInOrder(spec) && !all ? Math.min(endOf(spec.page), EXACT_TOTAL) + 1 : EXACT_TOTAL + 1;
  return search.find(scope.text, { limit, counted: EXACT_TOTAL + 1, correct: scope.verbatim !== true });
}

/** Reads a page in the order of the search; undefined if filters or another order choose from the matches. */
export async function readFound(
  reader: RowReader,
  spec: ListSpec,
  { ids, total }: Found,
): Promise<FoundRows | undefined> {
  if (!isInOrder(spec)) return undefined;
  const end = endOf(spec.page);
  const rows = await reader.read(ids.slice(beginOf(spec.page), end), spec.window);
  const last = ids[end - 1];
  return {
    // The search index follows the catalogue with a delay.
    rows: rows.filter(({ repository }) => repository.availability === "AVAILABLE"),
    total,
    scoped: total,
    last: last === undefined || end >= ids.length ? undefined : { sortKey: relevanceAt(end - 1), id: last },
    plan: IN_ORDER,
  };
}

/** Whether a list is all that a search has found, in its order. */
function isInOrder({ sort, filters }: ListSpec): boolean {
  return sort === "relevance" && Object.keys(filters).length === 0;
}

function endOf(page: ListSpec["page"]): number {
  return beginOf(page) + page.limit;
}
