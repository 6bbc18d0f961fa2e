import { sql } from "kysely";
import type { BulkColumns, BulkRow, Database, Dialect, FacetTable, Tx } from "../database/database.js";
import type { Standing } from "./standings.js";
import type { Window } from "./windows.js";

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

/** A language or topic with what it has gained in every window. */
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
  /** false: there are more than `total`, which can be reached neither. */
  totalIsExact: boolean;
}

/** What one repository adds to the facets. */
export type FacetPart = Pick<Standing, "provider" | "language" | "topics" | "stars" | "gained">;

const PART_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  provider: "text",
  language: "text",
  topics: "text",
  stars: "bigint",
  stars_gained_24h: "bigint",
  stars_gained_7d: "bigint",
  stars_gained_30d: "bigint",
};

/** What the repositories have added so far. */
export async function readFacetParts(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<FacetPart[]> {
  const rows = await tx
    .selectFrom("facet_parts")
    .selectAll()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  return rows.map((row) => ({
    provider: row.provider,
    language: row.language,
    topics: JSON.parse(row.topics),
    stars: row.stars,
    gained: { "24h": row.stars_gained_24h, "7d": row.stars_gained_7d, "30d": row.stars_gained_30d },
  }));
}

/** Keeps what the repositories add from now on; those of `ids` without a standing add nothing any more. */
export async function keepFacetParts(
  tx: Tx,
  dialect: Dialect,
  ids: readonly number[],
  standings: readonly Standing[],
): Promise<void> {
  if (ids.length > 0) {
    await tx
      .deleteFrom("facet_parts")
      .where(dialect.among(sql.ref("repository_id"), ids))
      .execute();
  }
  const rows = standings.map(
    ({ repositoryId, provider, language, topics, stars, gained }): BulkRow => [
      repositoryId,
      provider,
      language,
      JSON.stringify(topics),
      stars,
      gained["24h"],
      gained["7d"],
      gained["30d"],
    ],
  );
  await dialect.upsert(tx, "facet_parts", PART_COLUMNS, ["repository_id"], rows);
}

const FACET_COLUMNS: BulkColumns = {
  kind: "text",
  provider: "text",
  name: "text",
  name_key: "text",
  repositories: "bigint",
  stars: "bigint",
  stars_gained_24h: "bigint",
  stars_gained_7d: "bigint",
  stars_gained_30d: "bigint",
};
const KEY = ["kind", "provider", "name"];
const SUMMED = Object.keys(FACET_COLUMNS).slice(4);

/** Sums by kind, provider (and all providers together) and name. */
export class FacetSums {
  readonly #sums = new Map<string, { key: [FacetKind, string, string]; sums: number[] }>();

  /** `sign`: 1 adds what a repository has, -1 takes it out. */
  add({ provider, language, topics, stars, gained }: FacetPart, sign: 1 | -1): void {
    const values = [1, stars, gained["24h"], gained["7d"], gained["30d"]];
    for (const among of [provider, ""]) {
      if (language !== null) this.#addTo("language", among, language, values, sign);
      for (const topic of topics) this.#addTo("topic", among, topic, values, sign);
    }
  }

  #addTo(kind: FacetKind, provider: string, name: string, values: readonly number[], sign: number): void {
    const text = `${kind} ${provider} ${name}`;
    let entry = this.#sums.get(text);
    if (entry === undefined) {
      entry = { key: [kind, provider, name], sums: values.map(() => 0) };
      this.#sums.set(text, entry);
    }
    const { sums } = entry;
    for (const [i, value] of values.entries()) sums[i] = (sums[i] ?? 0) + sign * value;
  }

  #rows(): BulkRow[] {
    return [...this.#sums.values()]
      .filter(({ sums }) => sums.some((sum) => sum !== 0))
      .map(({ key: [kind, provider, name], sums }) => [kind, provider, name, name.toLowerCase(), ...sums]);
  }

  /** Puts the sums in the place of all facets. */
  async replace(tx: Tx, dialect: Dialect): Promise<void> {
    await tx.deleteFrom("facets").execute();
    await dialect.insertNew(tx, "facets", FACET_COLUMNS, KEY, this.#rows());
  }

  /** Adds the sums to the facets that are there. */
  async apply(tx: Tx, dialect: Dialect): Promise<void> {
    const rows = this.#rows();
    if (rows.length === 0) return;
    const sets = sql.join(
      SUMMED.map(
        (name) => sql`${sql.ref(name)} = ${sql.ref(`facets.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
      ),
    );
    await sql`insert into facets (${sql.raw(Object.keys(FACET_COLUMNS).join(", "))})
      select * from (${dialect.rowsOf(FACET_COLUMNS, rows)}) as s where true
      on conflict (kind, provider, name) do update set ${sets}`.execute(tx);
    await tx.deleteFrom("facets").where("repositories", "<=", 0).execute();
  }
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

/**
 * The language or topic that is called so, whatever the case; of several that differ by case alone the one that is
 * written as asked, else the most frequent.
 */
export async function findFacet(
  database: Database,
  kind: FacetKind,
  name: string,
): Promise<FacetTotals | undefined> {
  const row = await database.read
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
