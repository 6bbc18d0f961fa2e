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

/** Computes all facets anew. */
export async function rebuildFacets(tx: Tx): Promise<void> {
  const gains = WINDOWS.map((window) => {
    const hours = sql.lit(WINDOW_HOURS[window]);
    return sql`coalesce(sum(case when g.window_hours = ${hours} and g.counted > 0 then g.stars_delta end), 0)`;
  });
  const listed = sql`r.availability = 'AVAILABLE'`;
  const fill = async (kind: FacetKind, name: RawBuilder<unknown>, source: RawBuilder<unknown>) => {
    for (const provider of [sql`r.provider`, sql`''`]) {
      // Counted apart from the gains, as a repository has up to three rollups.
      await sql`insert into facets (kind, provider, name, name_key, repositories, stars,
          stars_gained_24h, stars_gained_7d, stars_gained_30d)
        select ${sql.lit(kind)}, a.provider, a.name, lower(a.name), a.repositories, a.stars,
          coalesce(b.gained_0, 0), coalesce(b.gained_1, 0), coalesce(b.gained_2, 0)
        from (select ${provider} as provider, ${name} as name, count(*) as repositories,
            coalesce(sum(r.stars), 0) as stars
          from ${source} where ${listed} and ${name} is not null group by 1, 2) as a
        left join (select ${provider} as provider, ${name} as name,
            ${sql.join(gains.map((gain, i) => sql`${gain} as ${sql.ref(`gained_${i}`)}`))}
          from ${source} join rollups g on g.repository_id = r.id
          where ${listed} and ${name} is not null group by 1, 2) as b
        on b.provider = a.provider and b.name = a.name`.execute(tx);
    }
  };
  await tx.deleteFrom("facets").execute();
  await fill("language", sql`r.language`, sql`repositories r`);
  await fill("topic", sql`t.topic`, sql`repository_topics t join repositories r on r.id = t.repository_id`);
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
