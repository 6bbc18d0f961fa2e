import { type RawBuilder, sql } from "kysely";
import type { Dialect, RepositoryTable } from "../../database/database.js";
import { GROWTH_ORDER_COLUMNS, type GrowthOrder, WINDOW_HOURS } from "../../rankings/rankings.js";
import { isGrowthSort, type ListSpec, type SpelledFilters } from "../spec.js";

/** The clauses of a list's statement: its order and its conditions. */

/**
 * An order as SQL: one integer per repository and the id, so that it is total and a cursor is such a pair. Aliases:
 * `r` repositories, `g` the rollups of the window, `s` the scope.
 */
export interface Order {
  /** The tables it needs, the one whose index gives the order first. */
  tables: readonly [RawBuilder<unknown>, ...RawBuilder<unknown>[]];
  /** Joins the tables; excludes repositories that the order does not contain. */
  where: RawBuilder<boolean>;
  /** The sort key and id, as the index of the order holds them. A key of -1 means unknown, unless `isSigned`. */
  key: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  /** Whether keys can be negative; then none is unknown. */
  isSigned: boolean;
  /** Condition on the first table alone; with it the index of the order can be read by itself. */
  indexed: RawBuilder<boolean>;
}

const PLAIN_COLUMNS = { stars: "stars", forks: "forks", pushed: "pushed_at", created: "created_at" } as const;

/** The order of a list. */
export function orderOf({ scope, sort, window, direction }: ListSpec): Order {
  const ofRepositories: Omit<Order, "key"> = {
    tables: [sql`repositories r`],
    where: sql<boolean>`true`,
    id: sql`r.id`,
    isSigned: false,
    indexed: sql<boolean>`r.availability = 'AVAILABLE'`,
  };
  if (sort === "added" || sort === "relevance") return { ...ofRepositories, key: sql`s.position` };
  if (!isGrowthSort(sort))
    return { ...ofRepositories, key: sql`coalesce(${sql.ref(`r.${PLAIN_COLUMNS[sort]}`)}, -1)` };
  const hours = WINDOW_HOURS[window];
  if (scope.kind !== "watchlist") return growthOrder(sort, hours);
  // Watchlists also contain repositories without growth; they come last.
  const last = direction === "desc" ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  const growth = sql`select ${sql.ref(`g.${GROWTH_ORDER_COLUMNS[sort].column}`)} from rollups g
    where g.repository_id = r.id and g.window_hours = ${sql.lit(hours)}`;
  return { ...ofRepositories, key: sql`coalesce((${growth}), ${sql.lit(last)})`, isSigned: true };
}

/** By growth or a score; contains only repositories with one in the window. */
function growthOrder(sort: GrowthOrder, hours: number): Order {
  const { column, positiveOnly } = GROWTH_ORDER_COLUMNS[sort];
  const key = sql.ref(`g.${column}`);
  const indexed = sql<boolean>`g.window_hours = ${hours}
    and ${positiveOnly ? sql`${key} > 0` : sql`${key} is not null`}`;
  return {
    tables: [sql`rollups g`, sql`repositories r`],
    where: sql`r.id = g.repository_id and ${indexed}`,
    key,
    id: sql`g.repository_id`,
    isSigned: true,
    indexed,
  };
}

export type Condition = RawBuilder<boolean>;

/**
 * The filters as conditions on `r`. With `walk`, none of them tempts the planner away from the index of the order.
 * `languages` are spelled as in the catalogue, and `licenses` are the spellings of the license there.
 */
export function filterConditions(filters: SpelledFilters, dialect: Dialect, walk: boolean): Condition[] {
  const { provider, languages, topics, license, licenses = [license] } = filters;
  const { minStars, maxStars, createdAfter, createdBefore, pushedAfter } = filters;
  const column = (name: keyof RepositoryTable): RawBuilder<unknown> =>
    walk ? dialect.unindexed(sql.ref(`r.${name}`)) : sql.ref(`r.${name}`);
  const all: Condition[] = [];
  if (provider !== undefined) all.push(sql`${column("provider")} = ${provider}`);
  if (languages !== undefined) all.push(sql`${column("language")} in (${sql.join(languages)})`);
  if (topics !== undefined) {
    const list = sql.join(topics);
    all.push(
      walk
        ? sql`exists (select 1 from repository_topics t where t.repository_id = r.id and t.topic in (${list}))`
        : sql`r.id in (select t.repository_id from repository_topics t where t.topic in (${list}))`,
    );
  }
  if (license !== undefined) all.push(sql`${column("license")} in (${sql.join(licenses)})`);
  // The expressions of the indexes. Unknown is -1 there, so every range starts at 0 or later.
  const range = (name: "stars" | "created_at" | "pushed_at", from = 0, to = Number.MAX_SAFE_INTEGER) => {
    const expression = sql`coalesce(${sql.ref(`r.${name}`)}, -1)`;
    const value = walk ? dialect.unindexed(expression) : expression;
    all.push(sql`${value} between ${Math.max(0, from)} and ${to}`);
  };
  if (minStars !== undefined || maxStars !== undefined) range("stars", minStars, maxStars);
  if (createdAfter !== undefined || createdBefore !== undefined)
    range("created_at", createdAfter, createdBefore === undefined ? undefined : createdBefore - 1);
  if (pushedAfter !== undefined) range("pushed_at", pushedAfter);
  for (const name of ["archived", "fork"] as const) {
    if (filters[name] === true) all.push(sql`${column(name)} = 1`);
    if (filters[name] === false) all.push(sql`coalesce(${sql.ref(`r.${name}`)}, 0) = 0`);
  }
  return all;
}

/** The condition that the trend of `r` can be trusted, on its rollup `q`; undefined if the list does not ask for that. */
export function trustCondition({ filters, window }: ListSpec): Condition | undefined {
  const { reliableOnly, excludeAnomalous } = filters;
  if (!reliableOnly && !excludeAnomalous) return undefined;
  const all = [sql`q.repository_id = r.id`, sql`q.window_hours = ${sql.lit(WINDOW_HOURS[window])}`];
  if (reliableOnly) all.push(sql`q.reliable = 1`);
  if (excludeAnomalous) all.push(sql`q.anomalous = 0`);
  return sql<boolean>`${sql.join(all, sql` and `)}`;
}
