import { sql } from "kysely";
import type { Database, Db, FacetTable } from "../../database/database.js";
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

/** One page of facets, the greatest first; ties by name. */
export async function listFacets({ read }: Database, request: FacetRequest): Promise<FacetPage> {
  const { kind, provider, window, sort, limit, offset } = request;
  const isWanted = sql`kind = ${kind} and provider = ${provider ?? ""}`;
  const gained = sql.ref(`stars_gained_${window}`);
  const key = sort === "stars_gained" ? gained : sql.ref(sort);
  const rows = await sql<FacetTable & { gained: number }>`select f.*, ${gained} as gained
    from (select * from facets where ${isWanted} order by repositories desc, name limit ${LISTED}) as f
    order by ${key} desc, name limit ${limit} offset ${offset}`.execute(read);
  const counted = await sql<{ total: number }>`select count(*) as total from (
    select 1 from facets where ${isWanted} limit ${LISTED + 1}) as bounded`.execute(read);
  const total = Number(counted.rows[0]?.total ?? 0);
  return {
    facets: rows.rows.map((row) => ({
      name: row.name,
      repositories: row.repositories,
      stars: row.stars,
      starsGained: Number(row.gained),
    })),
    total: Math.min(LISTED, total),
    totalIsExact: total <= LISTED,
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
