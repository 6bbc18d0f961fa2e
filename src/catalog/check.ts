import { sql } from "kysely";
import type { Db, Dialect, TableName } from "../database/database.js";
import { AVAILABILITIES, nameKey } from "./repository.js";
import { DERIVED_TABLES } from "./sample.js";
import { HistoryCheck, type HistoryDamage } from "./snapshots/snapshots.js";

/** What is wrong with rows of the catalogue, or with rows that belong to repositories. */
export type CatalogDamage =
  | HistoryDamage
  | "repository-invalid"
  | "name-key-wrong"
  | "topics-differ"
  | "snapshot-hours-wrong"
  | "snapshots-orphaned"
  | "derived-orphaned"
  | "row-missing";

export type OnCatalogDamage = (kind: CatalogDamage, found: string) => void;

/** Repositories read at a time, and orphans that are named. */
const BATCH = 1_000;
const NAMED = 100;
/** Ids looked up at a time. */
const ORPHAN_BATCH = 10_000;

/** Tables whose rows follow from a repository: without it they are left over. */
export const FOLLOWING_TABLES: readonly TableName[] = [
  ...DERIVED_TABLES.filter((table) =>
    ["rollups", "repository_ranks", "rank_history", "rank_blocks", "facet_parts", "outdated"].includes(table),
  ),
  "tracking",
];

/** Tables with one row for each of these ids. */
const SINGLE_ROWS = [
  { table: "revision", ids: [1] },
  { table: "search_state", ids: [1] },
  { table: "runs", ids: [1, 2, 3] },
] as const;

interface Row {
  id: number;
  provider: string;
  owner: string;
  name: string;
  name_key: string | null;
  topics: string;
  stars: number | null;
  forks: number | null;
  availability: string;
}

/** Checks all repositories with their histories, a batch at a time. */
export async function checkCatalogue(db: Db, dialect: Dialect, onDamage: OnCatalogDamage): Promise<void> {
  const histories = new HistoryCheck(onDamage);
  for (let after = 0; ; ) {
    const { rows } =
      await sql<Row>`select id, provider, owner, name, name_key, topics, stars, forks, availability
      from repositories where id > ${after} order by id limit ${BATCH}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
    const topics = await topicsOf(db, dialect, rows);
    for (const row of rows) checkRow(row, topics.get(row.id) ?? [], onDamage);
    await histories.add(db, dialect, new Map(rows.map(({ id, provider }) => [id, provider])));
  }
  await checkOrphans(db, dialect, onDamage);
  for (const found of (await histories.wrongHours(db)) ?? []) onDamage("snapshot-hours-wrong", found);
  for (const { table, ids } of SINGLE_ROWS) {
    const { rows } = await sql<{ id: number }>`select id from ${sql.table(table)}`.execute(db);
    for (const id of ids) if (!rows.some((row) => row.id === id)) onDamage("row-missing", `${table} ${id}`);
  }
}

async function topicsOf(db: Db, dialect: Dialect, rows: readonly Row[]): Promise<Map<number, string[]>> {
  const found = await sql<{ repository_id: number; topic: string }>`select repository_id, topic
    from repository_topics where ${dialect.among(
      sql.ref("repository_id"),
      rows.map(({ id }) => id),
    )}`.execute(db);
  const byId = Map.groupBy(found.rows, ({ repository_id }) => repository_id);
  return new Map([...byId].map(([id, own]) => [id, own.map(({ topic }) => topic)]));
}

function checkRow(row: Row, stored: readonly string[], onDamage: OnCatalogDamage): void {
  const named = `repository ${row.id} (${row.owner}/${row.name})`;
  const topics = parsedTopics(row.topics);
  if (topics === undefined) onDamage("repository-invalid", `${named}: its topics cannot be read`);
  else if (!areSame(topics, stored)) onDamage("topics-differ", named);
  if ((row.stars ?? 0) < 0 || (row.forks ?? 0) < 0)
    onDamage("repository-invalid", `${named}: a count below 0`);
  if (!AVAILABILITIES.some((one) => one === row.availability))
    onDamage("repository-invalid", `${named}: its availability is "${row.availability}"`);
  if (row.name_key !== null && row.name_key !== nameKey(row.owner, row.name))
    onDamage("name-key-wrong", named);
}

function parsedTopics(text: string): string[] | undefined {
  try {
    const topics: unknown = JSON.parse(text);
    return Array.isArray(topics) && topics.every((topic) => typeof topic === "string") ? topics : undefined;
  } catch {
    return undefined;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  const all = new Set(a);
  return all.size === b.length && b.every((topic) => all.has(topic));
}

async function checkOrphans(db: Db, dialect: Dialect, onDamage: OnCatalogDamage): Promise<void> {
  const check = async (table: TableName, kind: CatalogDamage) => {
    let named = 0;
    for await (const orphans of orphansOf(db, dialect, table)) {
      const { rows } = await sql<{ id: number; count: number }>`select repository_id as id, count(*) as count
        from ${sql.table(table)} where ${dialect.among(sql.ref("repository_id"), orphans.slice(0, NAMED - named))}
        group by repository_id`.execute(db);
      for (const { id, count } of rows) onDamage(kind, `${table}: ${count} rows of repository ${id}`);
      named += rows.length;
      if (named >= NAMED) return;
    }
  };
  for (const table of ["snapshots", "snapshot_blocks"] as const) await check(table, "snapshots-orphaned");
  for (const table of FOLLOWING_TABLES) await check(table, "derived-orphaned");
}

/**
 * The ids in a table that no repository has, a batch at a time. Costs a look at each repository of the table. A table may be
 * distributed, so it is not joined with the repositories.
 */
export async function* orphansOf(db: Db, dialect: Dialect, table: TableName): AsyncGenerator<number[]> {
  // The id 0 means all repositories.
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number }>`select distinct repository_id as id from ${sql.table(table)}
      where repository_id > ${after} order by repository_id limit ${ORPHAN_BATCH}`.execute(db);
    const ids = rows.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const known = await db
      .selectFrom("repositories")
      .select("id")
      .where(dialect.among(sql.ref("id"), ids))
      .execute();
    const found = new Set(known.map(({ id }) => id));
    const orphans = ids.filter((id) => !found.has(id));
    if (orphans.length > 0) yield orphans;
  }
}
