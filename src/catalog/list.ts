import { type RawBuilder, sql } from "kysely";
import type { Database, Db, Dialect, RepositoryTable } from "../database/database.js";
import { invalidParameter } from "../errors.js";
import type { KnownList } from "./known-lists.js";
import { fromRow, type Repository } from "./repository.js";

/** Totals up to here are exact, and sets up to here are sorted as a whole; above, the list walks the index of its order. */
export const EXACT_TOTAL = 10_000;

/** Rows of an order that are looked through for a page of a narrow list before the whole list is gathered. */
const HEAD_ROWS = 2_000;

/** What a list is narrowed to. Texts compare exactly; absent means any. */
export interface Filters {
  provider?: string;
  /** Any of these. */
  languages?: readonly string[];
  /** Any of these. */
  topics?: readonly string[];
  license?: string;
  minStars?: number;
  maxStars?: number;
  createdAfter?: number;
  createdBefore?: number;
  pushedAfter?: number;
  /** false: not known to be archived. */
  archived?: boolean;
  /** false: not known to be a fork. */
  fork?: boolean;
}

/** What a list is ordered by: one integer a repository, `-1` where it is not known, which always comes last. */
export interface Order {
  /** Names the order in cursors. */
  name: string;
  /** Where the rows come from, the table whose index gives the order first; repositories are called `r`. */
  tables: readonly RawBuilder<unknown>[];
  /** Joins the tables, and narrows them. */
  where?: RawBuilder<boolean>;
  /** The key and the id as that index holds them. */
  key: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  direction: "asc" | "desc";
  /** Whether a key can be negative; then it is never unknown. */
  signed?: boolean;
  /** The table whose index gives the order, and all of it that the order holds, so that its head can be read from the index alone. */
  index?: { table: RawBuilder<unknown>; where: RawBuilder<boolean> };
}

export interface ListRequest {
  filters: Filters;
  order: Order;
  /** A further table and the condition that ties it to `r`; each repository has at most one row in it. */
  through?: { table: RawBuilder<unknown>; where: RawBuilder<boolean> };
  /** A select of `id` and `position` that the list is narrowed to. */
  within?: RawBuilder<unknown>;
  /** Set where `within` is cut off after EXACT_TOTAL + 1 rows, so that a total of what was cut off is not called exact. */
  isWithinBounded?: boolean;
  limit: number;
  /** Rows to pass over; only without `after`. */
  offset: number;
  /** The key and id of the last row of the page before. */
  after?: { key: number; id: number };
  /** Lists repositories whatever their availability. */
  withUnavailable?: boolean;
  /**
   * Names what the list holds: equal names, equal repositories as long as the revision of the catalogue stays. Then its
   * total is counted once. Not together with `within`.
   */
  name?: string;
}

export interface RepositoryPage {
  repositories: Repository[];
  /** The sort key of each, for the cursor. */
  keys: number[];
  total: number;
  totalIsExact: boolean;
  hasMore: boolean;
}

/** The conditions of the filters on `r`. With `walk`, none of them tempts the planner away from the index of the order. */
function conditions(filters: Filters, dialect: Dialect, walk: boolean): RawBuilder<boolean>[] {
  const column = (name: keyof RepositoryTable): RawBuilder<unknown> =>
    walk ? dialect.unindexed(sql.ref(`r.${name}`)) : sql.ref(`r.${name}`);
  const all: RawBuilder<boolean>[] = [];
  const { languages, topics } = filters;
  if (filters.provider !== undefined) all.push(sql`${column("provider")} = ${filters.provider}`);
  if (languages !== undefined) all.push(sql`${column("language")} in (${sql.join(languages)})`);
  if (topics !== undefined) {
    const list = sql.join(topics);
    all.push(
      walk
        ? sql`exists (select 1 from repository_topics t where t.repository_id = r.id and t.topic in (${list}))`
        : sql`r.id in (select t.repository_id from repository_topics t where t.topic in (${list}))`,
    );
  }
  if (filters.license !== undefined) all.push(sql`${column("license")} = ${filters.license}`);
  // The keys of the indexes: -1 stands for "not known", which no range holds.
  const key = (name: "stars" | "created_at" | "pushed_at"): RawBuilder<unknown> => {
    const expression = sql`coalesce(${sql.ref(`r.${name}`)}, -1)`;
    return walk ? dialect.unindexed(expression) : expression;
  };
  const { minStars, maxStars, createdAfter, createdBefore, pushedAfter } = filters;
  if (minStars !== undefined || maxStars !== undefined) {
    all.push(sql`${key("stars")} between ${minStars ?? 0} and ${maxStars ?? Number.MAX_SAFE_INTEGER}`);
  }
  if (createdAfter !== undefined || createdBefore !== undefined) {
    all.push(
      sql`${key("created_at")} between ${createdAfter ?? 0} and ${(createdBefore ?? Number.MAX_SAFE_INTEGER) - 1}`,
    );
  }
  if (pushedAfter !== undefined) all.push(sql`${key("pushed_at")} >= ${pushedAfter}`);
  for (const name of ["archived", "fork"] as const) {
    if (filters[name] === true) all.push(sql`${column(name)} = 1`);
    if (filters[name] === false) all.push(sql`coalesce(${sql.ref(`r.${name}`)}, 0) = 0`);
  }
  return all;
}

/** Whether some filter leaves few enough rows to begin with; those that only leave a few out do not. */
function isNarrowed({ archived, fork, ...others }: Filters): boolean {
  return archived === true || fork === true || Object.values(others).some((value) => value !== undefined);
}

/**
 * One page of repositories. Up to EXACT_TOTAL matches are gathered by the most selective filter and sorted; more are
 * found by walking the index of the order, where with so many matches the page fills soon. Ties go by the greater id
 * first (the smaller when ascending), so an order is total and a cursor neither repeats nor skips. Where its total is
 * `known`, nothing is gathered for it: pages that the head of the order fills are read from there.
 */
export async function listRepositories(
  database: Database,
  request: ListRequest,
  known: KnownList = {},
): Promise<RepositoryPage> {
  const { dialect, read } = database;
  const { filters, order, within, through, limit } = request;
  // CROSS JOIN fixes where the planner begins: with the table of the order, or with what is narrowed most.
  const walked = sql.join(order.tables, sql` cross join `);
  const extra = through === undefined ? [] : [through.table];
  const narrowest =
    within !== undefined
      ? [sql`(${within}) as w`, ...order.tables.toReversed(), ...extra]
      : isNarrowed(filters)
        ? [...order.tables.toReversed(), ...extra]
        : [...extra, ...(through === undefined ? order.tables : order.tables.toReversed())];
  const gathered = sql.join(narrowest, sql` cross join `);
  const tests = (walk: boolean, joins = order.where): RawBuilder<unknown> => {
    const all = [...(joins ? [joins] : []), ...conditions(filters, dialect, walk)];
    if (within !== undefined) all.push(sql`w.id = r.id`);
    if (through !== undefined) {
      all.push(walk ? sql`exists (select 1 from ${through.table} where ${through.where})` : through.where);
    }
    if (!request.withUnavailable) all.push(sql`r.availability = 'AVAILABLE'`);
    return all.length === 0 ? sql`true` : sql.join(all, sql` and `);
  };
  // One match more than can be counted tells that there are more.
  const bounded = (columns: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select ${columns} from ${gathered} where ${tests(false)} limit ${EXACT_TOTAL + 1}`;
  const sorted: PagePlan = {
    prefix: sql`with m as materialized (${bounded(sql`r.id as id, ${order.key} as sort_key`)})`,
    from: sql`m join repositories r on r.id = m.id`,
    where: sql`true`,
    key: sql`m.sort_key`,
    id: sql`m.id`,
    total: sql`(select count(*) from m)`,
  };
  const walk: PagePlan = {
    prefix: sql``,
    from: walked,
    where: tests(true),
    key: order.key,
    id: order.id,
    total: sql`0`,
  };
  // What was narrowed is gathered for the count anyway, so it is sorted at once; it is seldom too much.
  const isGathered = known.total === undefined && (within !== undefined || isNarrowed(filters));
  let rows = isGathered ? await readPage(read, request, sorted) : [];
  const counted = rows[0]?.total ?? known.total;
  const total = counted === undefined ? await count(read, bounded(sql`1`)) : Number(counted);
  const head =
    known.total === undefined ? undefined : headOf(request, known, tests(true, sql`r.id = h.head_id`));
  if (within === undefined) known.total = total;
  if (total > EXACT_TOTAL && within === undefined) rows = await readPage(read, request, walk);
  else if (!isGathered) {
    if (head !== undefined) rows = await readPage(read, request, head);
    if (rows.length <= limit) {
      if (head !== undefined && request.after === undefined) known.tooMany = request.offset + limit;
      rows = await readPage(read, request, sorted);
    }
  }

  // With nothing else to narrow it, what was cut off would have been counted.
  const isNarrowedFurther =
    Object.keys(filters).length > 0 || through !== undefined || order.where !== undefined;
  const mayBeCutOff = request.isWithinBounded === true && isNarrowedFurther && total <= EXACT_TOTAL;
  const isCutOff = mayBeCutOff && within !== undefined && (await count(read, within)) > EXACT_TOTAL;
  return {
    repositories: rows.slice(0, limit).map(fromRow),
    keys: rows.slice(0, limit).map((row) => row.sort_key),
    total: Math.min(total, EXACT_TOTAL),
    totalIsExact: total <= EXACT_TOTAL && !isCutOff,
    hasMore: rows.length > limit,
  };
}

/**
 * What reads a page from the first rows of an order's index, a bounded number of them; a page that is not filled must be
 * read otherwise. Undefined where the order has no such index, or the list no full page at this place.
 */
function headOf(
  { order, within, withUnavailable, after, offset, limit }: ListRequest,
  { total = 0, tooMany = Number.POSITIVE_INFINITY }: KnownList,
  tests: RawBuilder<unknown>,
): PagePlan | undefined {
  const { index, key, id, direction } = order;
  if (index === undefined || direction === "asc" || within !== undefined || withUnavailable === true) return;
  if ((after === undefined && total <= offset + limit) || offset + limit >= tooMany) return;
  const rest = after === undefined ? sql`true` : sql`(${key}, ${id}) < (${after.key}, ${after.id})`;
  const head = sql`select ${id} as head_id, ${key} as head_key from ${index.table} where ${index.where} and ${rest}
    order by ${key} desc, ${id} desc limit ${HEAD_ROWS}`;
  return {
    prefix: sql``,
    from: sql`(${head}) as h cross join repositories r`,
    where: tests,
    key: sql`h.head_key`,
    id: sql`h.head_id`,
    total: sql`0`,
  };
}

/** How many rows a bounded select has. */
async function count(db: Db, select: RawBuilder<unknown>): Promise<number> {
  const counted = await sql<{ total: number }>`select count(*) as total from (${select}) as s`.execute(db);
  return Number(counted.rows[0]?.total ?? 0);
}

/** Where the rows of a page are read, and by which key. */
interface PagePlan {
  prefix: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
  key: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  /** How many matches were gathered. */
  total: RawBuilder<unknown>;
}

type ListRow = RepositoryTable & { sort_key: number; total: number };

/** The rows of the page and, if there is one, the first row after it. */
async function readPage(db: Db, request: ListRequest, plan: PagePlan): Promise<ListRow[]> {
  const { after, offset, order } = request;
  const { prefix, from, where, key, id, total } = plan;
  const wanted = request.limit + 1;
  if (order.direction === "desc") {
    const rest = after === undefined ? sql`true` : sql`(${key}, ${id}) < (${after.key}, ${after.id})`;
    const result = await sql<ListRow>`${prefix} select r.*, ${key} as sort_key, ${total} as total from ${from}
      where ${where} and ${rest} order by ${key} desc, ${id} desc limit ${wanted} offset ${offset}`.execute(
      db,
    );
    return result.rows;
  }
  // Ascending, the unknown would come first; so the known are walked, then the unknown.
  const part = (number: 0 | 1, rest: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select * from (select r.*, ${key} as sort_key, ${total} as total, ${sql.lit(number)} as part from ${from}
      where ${where} and ${rest} order by ${key}, ${id} limit ${wanted + offset}) as ${sql.ref(`part_${number}`)}`;
  const later = after === undefined ? sql`true` : sql`(${key}, ${id}) > (${after.key}, ${after.id})`;
  let parts = part(0, later);
  if (!order.signed) {
    const known = after !== undefined && after.key < 0 ? sql`false` : sql`${key} >= 0 and ${later}`;
    const unknown = after === undefined || after.key >= 0 ? sql`true` : sql`${id} > ${after.id}`;
    parts = sql`${part(0, known)} union all ${part(1, sql`${key} = -1 and ${unknown}`)}`;
  }
  const result = await sql<ListRow>`${prefix} select * from (${parts}) as parts
    order by part, sort_key, id limit ${wanted} offset ${offset}`.execute(db);
  return result.rows;
}

/** The plain orders: those a repository has by itself. */
export function plainOrder(name: "stars" | "forks" | "pushed" | "created", direction: "asc" | "desc"): Order {
  const column = { stars: "stars", forks: "forks", pushed: "pushed_at", created: "created_at" }[name];
  return {
    name: `${name}-${direction}`,
    tables: [sql`repositories r`],
    key: sql`coalesce(${sql.ref(`r.${column}`)}, -1)`,
    id: sql`r.id`,
    direction,
    index: { table: sql`repositories r`, where: sql`r.availability = 'AVAILABLE'` },
  };
}

/** Throws when a page cannot be reached by number; `advice` says what else there is. */
export function checkDepth(page: number, limit: number, advice = "; use cursor to go further"): void {
  if (page * limit <= EXACT_TOTAL) return;
  throw invalidParameter("page", `page × limit may be at most ${EXACT_TOTAL}${advice}`);
}
