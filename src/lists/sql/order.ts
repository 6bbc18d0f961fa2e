import { type RawBuilder, sql } from "kysely";
import { GROWTH_ORDER_COLUMNS, type GrowthOrder, WINDOW_HOURS } from "../../rankings/rankings.js";
import { isGrowthSort, type ListSpec } from "../spec.js";

/**
 * An order as SQL: one integer per repository and the id, so that it is total and a cursor is such a pair. Aliases:
 * `r` repositories, `g` the rollups of the window, `s` the scope.
 */
export interface Order {
  /** The tables it needs, the one whose index gives the order first. */
  tables: readonly [RawBuilder<unknown>, ...RawBuilder<unknown>[]];
  /** Joins the tables, and leaves out what the order does not hold. */
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
  if (sort === "added") return { ...ofRepositories, key: sql`s.position` };
  if (sort === "relevance")
    return { ...ofRepositories, key: relevanceKey(scope.kind === "search" ? scope.text : "") };
  if (!isGrowthSort(sort))
    return { ...ofRepositories, key: sql`coalesce(${sql.ref(`r.${PLAIN_COLUMNS[sort]}`)}, -1)` };
  const hours = WINDOW_HOURS[window];
  if (scope.kind === "all" || scope.kind === "search") return growthOrder(sort, hours);
  // A watchlist holds repositories without growth too; they come last.
  const last = direction === "desc" ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  const growth = sql`select ${sql.ref(`g.${GROWTH_ORDER_COLUMNS[sort].column}`)} from rollups g
    where g.repository_id = r.id and g.window_hours = ${sql.lit(hours)}`;
  return { ...ofRepositories, key: sql`coalesce((${growth}), ${sql.lit(last)})`, isSigned: true };
}

/** By growth or a score; holds only repositories that have it in the window. */
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

/**
 * Repositories with exactly the name searched for first, then by stars. All of them match every word; weighing the words
 * of descriptions would only bury what people look for.
 */
function relevanceKey(text: string): RawBuilder<unknown> {
  const name = text.trim().toLowerCase();
  return sql`(case when r.name_key = ${name} then 2000000000 when lower(r.name) = ${name} then 1000000000 else 0 end
    + coalesce(r.stars, -1))`;
}
