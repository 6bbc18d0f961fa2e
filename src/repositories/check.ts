/** Checks the rows of the catalogue, and repairs those that are derived. */
import { sql } from "kysely";
import type { Database, Db, Dialect, TableName } from "../database/database.js";
import { bumpRevision } from "./outdated.js";
import { AVAILABILITIES, nameKey } from "./repository.js";
import { DERIVED_TABLES } from "./sample.js";
import { HistoryCheck, type HistoryDamage, recountHours } from "./snapshots/snapshots.js";

/** Kinds of damage of rows of the catalogue, or of rows that belong to repositories. */
export type CatalogDamage =
  | HistoryDamage
  | "repository-invalid"
  | "name-key-wrong"
  | "topics-differ"
  | "snapshot-hours-wrong"
  | "snapshots-orphaned"
  | "derived-orphaned"
  | "row-missing";

type OnCatalogDamage = (kind: CatalogDamage, found: string) => void;

/** Repositories read or repaired in one batch. */
const BATCH = 1_000;
/** Maximum number of orphans that are named. */
const NAMED = 100;
/** Ids looked up at a time. */
const ORPHAN_BATCH = 10_000;

/** Tables whose rows follow from a repository, and are left over without it. */
const FOLLOWING_TABLES: readonly TableName[] = [
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
    const topics = await readTopics(db, dialect, rows);
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

async function readTopics(db: Db, dialect: Dialect, rows: readonly Row[]): Promise<Map<number, string[]>> {
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
  const topics = topicsIn(row.topics);
  if (topics === undefined || !topics.every((topic) => typeof topic === "string"))
    onDamage("repository-invalid", `${named}: its topics cannot be read`);
  else if (!areSame(topics, stored)) onDamage("topics-differ", named);
  if ((row.stars ?? 0) < 0 || (row.forks ?? 0) < 0)
    onDamage("repository-invalid", `${named}: a count below 0`);
  if (!AVAILABILITIES.some((one) => one === row.availability))
    onDamage("repository-invalid", `${named}: its availability is "${row.availability}"`);
  if (row.name_key !== null && row.name_key !== nameKey(row.owner, row.name))
    onDamage("name-key-wrong", named);
}

/** The values in a column of topics; undefined if it has no JSON array. */
function topicsIn(text: string): unknown[] | undefined {
  try {
    const topics: unknown = JSON.parse(text);
    return Array.isArray(topics) ? topics : undefined;
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
async function* orphansOf(db: Db, dialect: Dialect, table: TableName): AsyncGenerator<number[]> {
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

/** Adds missing rows of SINGLE_ROWS. */
export async function restoreRows({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    // Readers take any other number for a change.
    await sql`insert into revision (id, value) values (1, ${1_000_000}) on conflict do nothing`.execute(tx);
    for (const id of [1, 2, 3])
      await sql`insert into runs (id, generation, owner, seen_at) values (${id}, 1000, null, 0)
        on conflict do nothing`.execute(tx);
    await sql`insert into search_state (id, first_block, built_blocks, positions, documents, slots, version, vocabulary)
      values (1, null, 0, 0, 0, 0, 0, '') on conflict do nothing`.execute(tx);
  });
}

/** Deletes rows that follow from repositories that do not exist. */
export async function removeOrphans({ dialect, write }: Database): Promise<void> {
  for (const table of FOLLOWING_TABLES)
    await dialect.exclusively(write, "catalogue", async (tx) => {
      for await (const orphans of orphansOf(tx, dialect, table))
        await sql`delete from ${sql.table(table)}
          where ${dialect.among(sql.ref("repository_id"), orphans)}`.execute(tx);
    });
}

/** Derives the names and topics of repositories from their rows. A repository whose name another one has gets none. */
export async function deriveNames({ dialect, write }: Database): Promise<void> {
  for (let after = 0; ; ) {
    const last = await dialect.exclusively(write, "catalogue", async (tx) => {
      const { rows } = await sql<{
        id: number;
        provider: string;
        owner: string;
        name: string;
        name_key: string | null;
        topics: string;
      }>`
        select id, provider, owner, name, name_key, topics from repositories
        where id > ${after} order by id limit ${BATCH}`.execute(tx);
      for (const { id, provider, owner, name, name_key, topics } of rows) {
        const key = nameKey(owner, name);
        if (name_key !== null && name_key !== key)
          await sql`update repositories set name_key = case when exists (select 1 from repositories o
            where o.provider = ${provider} and o.name_key = ${key}) then null else ${key} end where id = ${id}`.execute(
            tx,
          );
        const wanted = new Set<string>(topicsIn(topics)?.map(String));
        const stored = await tx
          .selectFrom("repository_topics")
          .select("topic")
          .where("repository_id", "=", id)
          .execute();
        const known = new Set(stored.map(({ topic }) => topic));
        if (known.symmetricDifference(wanted).size === 0) continue;
        await tx.deleteFrom("repository_topics").where("repository_id", "=", id).execute();
        for (const topic of wanted)
          await tx.insertInto("repository_topics").values({ repository_id: id, topic }).execute();
      }
      return rows.at(-1)?.id;
    });
    if (last === undefined) return;
    after = last;
  }
}

/** Counts all snapshots per hour again, in one transaction. */
export async function recountSnapshots({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const rows = await tx.selectFrom("repositories").select("id").orderBy("id").execute();
    await recountHours(
      tx,
      dialect,
      rows.map(({ id }) => id),
    );
    await bumpRevision(tx);
  });
}

/** Marks all growth, ranks and words to be rebuilt by the next update. */
export async function outdateAll({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    // Without scales the next update rebuilds all growth, and with it ranks and facets.
    await sql`delete from score_scales`.execute(tx);
    await sql`insert into outdated (kind, repository_id) values ('ranks', 0) on conflict do nothing`.execute(
      tx,
    );
    // A rebuild in progress stops at its next step.
    await sql`update runs set owner = null`.execute(tx);
    await sql`update search_state set first_block = null, version = version + 1`.execute(tx);
    await bumpRevision(tx);
  });
}
