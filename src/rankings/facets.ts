import { type RawBuilder, sql } from "kysely";
import type { Database, FacetTable, Tx } from "../database/database.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "./windows.js";

export const FACET_KINDS = ["language", "topic"] as const;
export type FacetKind = (typeof FACET_KINDS)[number];
export const FACET_SORTS = ["repositories", "stars", "stars_gained"] as const;
export type FacetSort = (typeof FACET_SORTS)[number];

/** A language or topic and what the listed repositories that carry it add up to. */
export interface Facet {
  name: string;
  repositories: number;
  stars: number;
  /** In the asked window, over the repositories that have a trend with nothing doubtful in it. */
  starsGained: number;
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
  /** false: there are more than `total`, which can be reached neither. */
  totalIsExact: boolean;
}

/** Computes all facets anew: those of each provider from the repositories, and from them those of all together. */
export async function rebuildFacets(tx: Tx): Promise<void> {
  await tx.deleteFrom("facets").execute();
  await insertFacets(tx, "language", sql`r.language`, sql`repositories r`);
  await insertFacets(
    tx,
    "topic",
    sql`t.topic`,
    sql`repository_topics t join repositories r on r.id = t.repository_id`,
  );
  const sums = sql.join(SUMMED.map((column) => sql`sum(${sql.ref(column)})`));
  await sql`insert into facets (kind, provider, name, name_key, ${sql.join(SUMMED.map((column) => sql.ref(column)))})
    select kind, '', name, name_key, ${sums} from facets group by kind, name, name_key`.execute(tx);
}

const SUMMED = ["repositories", "stars", "stars_gained_24h", "stars_gained_7d", "stars_gained_30d"] as const;

async function insertFacets(
  tx: Tx,
  kind: FacetKind,
  name: RawBuilder<unknown>,
  source: RawBuilder<unknown>,
): Promise<void> {
  const rollup = (window: Window): RawBuilder<unknown> => sql.ref(`g_${window}`);
  const joins = WINDOWS.map(
    (window) => sql`left join rollups ${rollup(window)} on ${sql.ref(`g_${window}.repository_id`)} = r.id
      and ${sql.ref(`g_${window}.window_hours`)} = ${sql.lit(WINDOW_HOURS[window])}
      and ${sql.ref(`g_${window}.counted`)} > 0`,
  );
  const gains = WINDOWS.map((window) => sql`coalesce(sum(${sql.ref(`g_${window}.stars_delta`)}), 0)`);
  await sql`insert into facets (kind, provider, name, name_key, ${sql.join(SUMMED.map((column) => sql.ref(column)))})
    select ${sql.lit(kind)}, r.provider, ${name}, lower(${name}), count(*), coalesce(sum(r.stars), 0), ${sql.join(gains)}
    from ${source} ${sql.join(joins, sql` `)}
    where r.availability = 'AVAILABLE' and ${name} is not null group by r.provider, ${name}`.execute(tx);
}

/** Only this many of the most frequent facets are sorted by something else than frequency. */
const SORTED = 10_000;

/** One page of facets, the greatest first; ties by name. */
export async function listFacets(database: Database, request: FacetRequest): Promise<FacetPage> {
  const { kind, provider, window, sort, limit, offset } = request;
  const here = sql`kind = ${kind} and provider = ${provider ?? ""}`;
  const gained = sql.ref(`stars_gained_${window}`);
  const key = sort === "stars_gained" ? gained : sql.ref(sort);
  const rows = await sql<FacetTable & { gained: number }>`select f.*, ${gained} as gained
    from (select * from facets where ${here} order by repositories desc, name limit ${SORTED}) as f
    order by ${key} desc, name limit ${limit} offset ${offset}`.execute(database.read);
  const counted = await sql<{ total: number }>`select count(*) as total from (
    select 1 from facets where ${here} limit ${SORTED + 1}) as bounded`.execute(database.read);
  const total = Number(counted.rows[0]?.total ?? 0);
  return {
    facets: rows.rows.map((row) => ({
      name: row.name,
      repositories: row.repositories,
      stars: row.stars,
      starsGained: Number(row.gained),
    })),
    total: Math.min(SORTED, total),
    totalIsExact: total <= SORTED,
  };
}
