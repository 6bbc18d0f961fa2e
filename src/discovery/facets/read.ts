import { sql } from "kysely";
import type { Database, Db, Prepared } from "../../database/database.js";
import type { Window } from "../../growth/growth.js";

export const FACET_KINDS = ["language", "topic"] as const;
export type FacetKind = (typeof FACET_KINDS)[number];
export const FACET_SORTS = ["repository-count", "stars", "stars-gained"] as const;
export type FacetSort = (typeof FACET_SORTS)[number];

/** A language or topic with the totals of its listed repositories. */
export interface Facet {
  name: string;
  repositories: number;
  stars: number;
  /** In the requested window, without doubtful gains. */
  starsGained: number;
}

/** A language or topic with its gains in every window. */
export interface FacetTotals extends Omit<Facet, "starsGained"> {
  gained: Readonly<Record<Window, number>>;
}

export interface FacetRequest {
  kind: FacetKind;
  /** Absent: all providers together. */
  provider?: string;
  window: Window;
  sort: FacetSort;
  limit: number;
  offset: number;
}

export interface FacetPage {
  facets: Facet[];
  total: number;
  /** false: there are more than `total`, and no page reaches the others. */
  totalIsExact: boolean;
}

/** Only this many of the most frequent facets are listed, in every order. */
export const LISTED = 10_000;

type FacetValues = [name: string, repositories: number, stars: number, gained: number];

/** Reads one page of facets, the greatest first; ties by name. */
export function facetReader({ prepare }: Database): (request: FacetRequest) => Promise<FacetPage> {
  const pages = new Map<string, Prepared<FacetRequest, FacetValues>>();
  const count = prepare<FacetRequest, [number]>((given) => {
    const [kind, provider] = [given((request) => request.kind), given(({ provider = "" }) => provider)];
    return sql`select count(*) from (
      select 1 from facets where kind = ${kind} and provider = ${provider} limit ${LISTED + 1}) as bounded`;
  });
  /** The statement for one order. */
  const pageOf = ({ sort, window }: FacetRequest) => {
    const name = `${sort} ${window}`;
    const known = pages.get(name);
    if (known !== undefined) return known;
    const gained = sql.ref(`stars_gained_${window}`);
    const key = {
      "repository-count": sql.ref("repositories"),
      stars: sql.ref("stars"),
      "stars-gained": gained,
    }[sort];
    const page = prepare<FacetRequest, FacetValues>((given) => {
      const [kind, provider] = [given((request) => request.kind), given(({ provider = "" }) => provider)];
      // All columns of the index, in which SQLite finds them without the rows.
      return sql`select name, repositories, stars, ${gained} from (select name, repositories, stars, ${gained} from facets
          where kind = ${kind} and provider = ${provider} order by repositories desc, name limit ${LISTED}) as f
        order by ${key} desc, name limit ${given(({ limit }) => limit)} offset ${given(({ offset }) => offset)}`;
    });
    pages.set(name, page);
    return page;
  };
  return async (request) => {
    const [rows, [counted]] = await Promise.all([pageOf(request)(request), count(request)]);
    const total = counted?.[0] ?? 0;
    return {
      facets: rows.map(([name, repositories, stars, starsGained]) => ({
        name,
        repositories,
        stars,
        starsGained,
      })),
      total: Math.min(LISTED, total),
      totalIsExact: total <= LISTED,
    };
  };
}

/** Finds a facet by kind and name; see `Rankings.findFacet`. */
export type FindFacet = (kind: FacetKind, name: string) => Promise<FacetTotals | undefined>;

/**
 * Finds the language or topic with a name, ignoring case. Of several that differ only by case, the one spelled as given, else
 * the most frequent.
 */
export function facetFinder({ prepare }: Database): FindFacet {
  type Values = [name: string, repositories: number, stars: number, day: number, week: number, month: number];
  const read = prepare<{ kind: FacetKind; name: string }, Values>(
    (given) => sql`select name, repositories, stars, stars_gained_24h, stars_gained_7d, stars_gained_30d
      from facets
      where kind = ${given(({ kind }) => kind)} and provider = ''
        and name_key = ${given(({ name }) => name.toLowerCase())}
      order by case when name = ${given(({ name }) => name)} then 0 else 1 end, repositories desc, name limit 1`,
  );
  return async (kind, name) => {
    const [row] = await read({ kind, name });
    if (row === undefined) return undefined;
    const [spelled, repositories, stars, day, week, month] = row;
    return { name: spelled, repositories, stars, gained: { "24h": day, "7d": week, "30d": month } };
  };
}

/**
 * Names of languages or topics as the catalogue spells them, in the order of the given ones, ignoring case; unknown ones have
 * none. One statement.
 */
export async function spellFacets(
  db: Db,
  kind: FacetKind,
  names: readonly string[],
): Promise<(readonly string[])[]> {
  const keys = names.map((name) => name.toLowerCase());
  const rows = await db
    .selectFrom("facets")
    .select(["name", "name_key"])
    .where("kind", "=", kind)
    .where("provider", "=", "")
    .where("name_key", "in", keys)
    .execute();
  const known = Map.groupBy(rows, (row) => row.name_key);
  return keys.map((key) => known.get(key)?.map((row) => row.name) ?? []);
}
