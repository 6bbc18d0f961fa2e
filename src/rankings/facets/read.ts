import { sql } from "kysely";
import type { Database, Db, Prepared } from "../../database/database.js";
import type { Window } from "../windows.js";

export const FACET_KINDS = ["language", "topic"] as const;
export type FacetKind = (typeof FACET_KINDS)[number];
export const FACET_SORTS = ["repositories", "stars", "stars_gained"] as const;
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

/** Only this many of the most frequent facets are listed, whatever the sort. */
const LISTED = 10_000;

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
    const key = sort === "stars_gained" ? gained : sql.ref(sort);
    const page = prepare<FacetRequest, FacetValues>((given) => {
      const [kind, provider] = [given((request) => request.kind), given(({ provider = "" }) => provider)];
      return sql`select name, repositories, stars, ${gained} from (select * from facets
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

/**
 * The language or topic with this name, ignoring case. Of several that differ only by case, the one spelled as given, else
 * the most frequent.
 */
export async function findFacet(db: Db, kind: FacetKind, name: string): Promise<FacetTotals | undefined> {
  const row = await db
    .selectFrom("facets")
    .selectAll()
    .where("kind", "=", kind)
    .where("provider", "=", "")
    .where("name_key", "=", name.toLowerCase())
    .orderBy(sql`case when name = ${name} then 0 else 1 end`)
    .orderBy("repositories", "desc")
    .orderBy("name")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    name: row.name,
    repositories: row.repositories,
    stars: row.stars,
    gained: { "24h": row.stars_gained_24h, "7d": row.stars_gained_7d, "30d": row.stars_gained_30d },
  };
}

/** Languages as the catalog spells them, whatever the case of the given names. Unknown names are returned unchanged. */
export async function spellLanguages(db: Db, names: readonly string[]): Promise<string[]> {
  const keys = names.map((name) => name.toLowerCase());
  const rows = await db
    .selectFrom("facets")
    .select(["name", "name_key"])
    .where("kind", "=", "language")
    .where("provider", "=", "")
    .where("name_key", "in", keys)
    .execute();
  const known = Map.groupBy(rows, (row) => row.name_key);
  return names.flatMap((name, i) => known.get(keys[i] ?? "")?.map((row) => row.name) ?? name);
}
