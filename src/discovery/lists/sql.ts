/** The SQL of lists: the statement that finds a page, and its clauses: the order and the conditions. */
import { type RawBuilder, sql } from "kysely";
import type { Database, Dialect, RepositoryTable } from "../../database/database.js";
import { GROWTH_ORDER_COLUMNS, type GrowthOrder, WINDOW_HOURS } from "../../growth/growth.js";
import {
  EXACT_TOTAL,
  type Filters,
  isGrowthSort,
  type ListSpec,
  type RowKey,
  relevanceAt,
  type Scope,
  type SpelledFilters,
} from "./spec.js";

/** The plans that read all of a page with SQL. */
export type SqlPlan = "gather" | "walk";

/** Where lists are found. */
export type Finder = Pick<Database, "dialect" | "read">;

/** The repositories of a page. */
interface PageFound {
  /** At most one more than the page holds; that one shows that there are more. */
  keys: RowKey[];
  /** Matches gathered, at most EXACT_TOTAL + 1; undefined for the other plans. */
  total: number | undefined;
  /** Repositories in the scope, at most EXACT_TOTAL + 1; 0 for everything. */
  scoped: number;
}

/** Finds the repositories of a page, in one statement. */
export async function findPage({ dialect, read }: Finder, spec: ListSpec, plan: SqlPlan): Promise<PageFound> {
  const order = orderOf(spec);
  const source = SOURCES[plan](spec, order, dialect);
  const sign = sql.raw(spec.direction);
  const result =
    await sql<CountedRow>`with ${sql.join([...source.tables, sql`page as (${pageIds(spec, order, source)})`])}
    select p.id, p.sort_key, ${source.counts} from ${source.before} page p ${source.on}
    order by p.part, p.sort_key ${sign}, p.id ${sign}`.execute(read);
  const first = result.rows[0];
  return {
    keys: result.rows.flatMap(({ id, sort_key }) => (id === null ? [] : [{ id, sortKey: sort_key }])),
    total: first?.total === undefined || first.total === null ? undefined : Number(first.total),
    scoped: Number(first?.scoped ?? 0),
  };
}

/** How many matches a list has, at most EXACT_TOTAL + 1. */
export async function countMatches({ dialect, read }: Finder, spec: ListSpec): Promise<number> {
  const matches = sql`select 1 ${gathered(spec, orderOf(spec), dialect)}`;
  const counted = await sql<{ total: number }>`select count(*) as total from (${matches}) as m`.execute(read);
  return Number(counted.rows[0]?.total ?? 0);
}

/** A row of the statement. Without rows on the page there is still one with the counts, whose id is null. */
interface CountedRow {
  id: number | null;
  sort_key: number;
  total: number | null;
  scoped: number;
}

/** The clauses from which the ids of a page are selected. */
interface PageSource {
  /** Common table expressions. */
  tables: RawBuilder<unknown>[];
  from: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
  key: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  /** The counts as columns, and what joins the page to them. */
  counts: RawBuilder<unknown>;
  before: RawBuilder<unknown>;
  on: RawBuilder<unknown>;
}

const UNCOUNTED = { counts: sql`null as total, 0 as scoped`, before: sql``, on: sql`` };

type SourceOf = (spec: ListSpec, order: SqlOrder, dialect: Dialect) => PageSource;

const SOURCES: Readonly<Record<SqlPlan, SourceOf>> = {
  gather(spec, order, dialect) {
    const scope = scopeSelect(spec.scope, dialect);
    const matches = sql`select r.id as id, ${order.key} as sort_key ${gathered(spec, order, dialect)}`;
    const scoped = scope === undefined ? sql`0` : sql`(select count(*) from scope)`;
    return {
      tables: [
        ...(scope === undefined ? [] : [sql`scope as materialized (${scope})`]),
        sql`m as materialized (${matches})`,
      ],
      from: sql`m`,
      where: sql`true`,
      key: sql`m.sort_key`,
      id: sql`m.id`,
      counts: sql`c.total, c.scoped`,
      before: sql`(select count(*) as total, ${scoped} as scoped from m) as c left join`,
      on: sql`on true`,
    };
  },
  walk: (spec, order, dialect) => ({
    tables: [],
    from: sql.join(order.tables, CROSS),
    where: conditions(spec, dialect, { walk: true, join: order.where }),
    key: order.key,
    id: order.id,
    ...UNCOUNTED,
  }),
};

/**
 * SQLite starts with the first table of a CROSS JOIN: that of the order, or the most selective one. PostgreSQL chooses by
 * statistics.
 */
const CROSS = sql` cross join `;

/** Where all matches are selected from, at most EXACT_TOTAL + 1: one more than can be counted shows that there are more. */
function gathered(spec: ListSpec, order: SqlOrder, dialect: Dialect): RawBuilder<unknown> {
  const trust = trustCondition(spec);
  const trusted = trust === undefined ? [] : [sql`rollups q`];
  const backwards = order.tables.toReversed();
  const tables =
    spec.scope.kind !== "all"
      ? [sql`scope s`, ...backwards, ...trusted]
      : isSelective(spec.filters)
        ? [...backwards, ...trusted]
        : trust === undefined
          ? order.tables
          : [...trusted, ...backwards];
  const where = conditions(spec, dialect, { walk: false, join: order.where });
  return sql`from ${sql.join(tables, CROSS)} where ${where} limit ${EXACT_TOTAL + 1}`;
}

const FOUND_COLUMNS = { id: "bigint", position: "bigint" } as const;

/** A select of the ids in a bounded scope with their own order (`position`); undefined for everything. */
function scopeSelect(scope: Scope, dialect: Dialect): RawBuilder<unknown> | undefined {
  switch (scope.kind) {
    case "all":
      return undefined;
    case "search":
      throw new Error("the search of a list must be done before its page is read");
    case "found":
      return dialect.rowsOf(
        FOUND_COLUMNS,
        scope.ids.map((id, index) => [id, relevanceAt(index)]),
      );
    case "watchlist":
      return sql`select repository_id as id, sort_order as position from watchlist_items where watchlist_id = ${scope.id}`;
  }
}

function conditions(
  spec: ListSpec,
  dialect: Dialect,
  { walk, join }: { walk: boolean; join: RawBuilder<unknown> },
): RawBuilder<unknown> {
  const { scope, filters } = spec;
  const trust = trustCondition(spec);
  const all = [join, ...filterConditions(filters, dialect, walk)];
  if (scope.kind !== "all") all.push(sql`s.id = r.id`);
  if (trust !== undefined) all.push(walk ? sql`exists (select 1 from rollups q where ${trust})` : trust);
  // A repository that is gone stays in a watchlist.
  if (scope.kind !== "watchlist") all.push(sql`r.availability = 'AVAILABLE'`);
  return sql.join(all, sql` and `);
}

/** The condition that a row comes after the last one of the page before. */
function afterRow({ page, direction }: ListSpec, key: RawBuilder<unknown>, id: RawBuilder<unknown>) {
  if (!("after" in page)) return sql`true`;
  return sql`(${key}, ${id}) ${sql.raw(direction === "desc" ? "<" : ">")} (${page.after.sortKey}, ${page.after.id})`;
}

/** The ids and sort keys of the page, and one more if there is one. Ties go by id. */
function pageIds(
  spec: ListSpec,
  { isSigned }: SqlOrder,
  { from, where, key, id }: PageSource,
): RawBuilder<unknown> {
  const { page, direction } = spec;
  const offset = "after" in page ? 0 : page.offset;
  const after = "after" in page ? page.after : undefined;
  const limit = page.limit + 1;
  const part = (number: 0 | 1, condition: RawBuilder<unknown>, size: RawBuilder<unknown>) => sql`
    select ${id} as id, ${key} as sort_key, ${sql.lit(number)} as part from ${from} where ${where} and ${condition}
    order by ${key} ${sql.raw(direction)}, ${id} ${sql.raw(direction)} limit ${size}`;
  const rest = afterRow(spec, key, id);
  if (direction === "desc" || isSigned) return part(0, rest, sql`${limit} offset ${offset}`);
  // Ascending, the unknown (-1) would come first. So the known are read, then the unknown.
  const known = after !== undefined && after.sortKey < 0 ? sql`false` : sql`${key} >= 0 and ${rest}`;
  const unknown = after === undefined || after.sortKey >= 0 ? sql`true` : sql`${id} > ${after.id}`;
  const size = sql`${limit + offset}`;
  return sql`select id, sort_key, part from (
      select * from (${part(0, known, size)}) as part_0 union all
      select * from (${part(1, sql`${key} = -1 and ${unknown}`, size)}) as part_1
    ) as parts order by part, sort_key, id limit ${limit} offset ${offset}`;
}

/**
 * An order as SQL: one integer per repository and the id, so that it is total and a cursor is such a pair. Aliases:
 * `r` repositories, `g` the rollups of the window, `s` the scope.
 */
export interface SqlOrder {
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
export function orderOf({ scope, sort, window, direction }: ListSpec): SqlOrder {
  const ofRepositories: Omit<SqlOrder, "key"> = {
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
function growthOrder(sort: GrowthOrder, hours: number): SqlOrder {
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

type SqlCondition = RawBuilder<boolean>;

/**
 * The filters as conditions on `r`. With `walk`, none of them tempts the planner away from the index of the order.
 * `languages` are spelled as in the catalogue, and `licenses` are the spellings of the license there.
 */
function filterConditions(filters: SpelledFilters, dialect: Dialect, walk: boolean): SqlCondition[] {
  const { provider, languages, topics, license, licenses = [license] } = filters;
  const { minStars, maxStars, createdAfter, createdBefore, pushedAfter } = filters;
  const column = (name: keyof RepositoryTable): RawBuilder<unknown> =>
    walk ? dialect.unindexed(sql.ref(`r.${name}`)) : sql.ref(`r.${name}`);
  const all: SqlCondition[] = [];
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
function trustCondition({ filters, window }: ListSpec): SqlCondition | undefined {
  const { reliableOnly, excludeAnomalous } = filters;
  if (!reliableOnly && !excludeAnomalous) return undefined;
  const all = [sql`q.repository_id = r.id`, sql`q.window_hours = ${sql.lit(WINDOW_HOURS[window])}`];
  if (reliableOnly) all.push(sql`q.reliable = 1`);
  if (excludeAnomalous) all.push(sql`q.anomalous = 0`);
  return sql<boolean>`${sql.join(all, sql` and `)}`;
}

/** Whether a filter leaves few enough rows to start from it. Excluding archived repositories or forks does not. */
export function isSelective(filters: Filters): boolean {
  const { archived, fork, reliableOnly: _, excludeAnomalous: __, ...others } = filters;
  return archived === true || fork === true || Object.values(others).some((value) => value !== undefined);
}
