import type pg from "pg";
import type { Clock } from "../../lib/clock.js";
import { LATEST_VERSION, migrateIn } from "../migrate.js";
import { openSqlite, sqliteDialect } from "../sqlite.js";
import { WriteQueue } from "../sqlite-writer.js";

export interface TableColumns {
  name: string;
  columns: string[];
}

/** The tables of a PostgreSQL schema that belong to this program. Other programs may have tables beside them. */
export interface OwnTables {
  tables: TableColumns[];
  /** Tables that may be of a newer version or of another program. Empty unless the store is newer than this program. */
  doubtful: string[];
  /** Whether there is a store: without one, `tables` only have the same names as ours. */
  isStore: boolean;
}

/** Exists only while growth is rebuilt, and is dropped by the next rebuild. */
const TRANSIENT = "rollups_next";
const VERSION: TableColumns = { name: "schema_version", columns: ["version", "name", "applied_at"] };

/** Finds the tables of the store, in about 50 ms. */
export async function readOwnTables(client: pg.Client, clock: Clock): Promise<OwnTables> {
  const known = await tableNames(clock);
  const { rows } = await client.query<TableColumns>(
    `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> $1
      and a.attnum > 0 and not a.attisdropped
    group by c.relname order by c.relname`,
    [TRANSIENT],
  );
  const isStore = rows.some(
    ({ name, columns }) => name === VERSION.name && VERSION.columns.every((one) => columns.includes(one)),
  );
  const isNewer = isStore && (await versionOf(client)) > LATEST_VERSION;
  return {
    tables: rows.filter(({ name }) => known.has(name)),
    doubtful: isNewer ? rows.map(({ name }) => name).filter((name) => !known.has(name)) : [],
    isStore,
  };
}

/** The tables in an order in which rows come after those they refer to. */
export async function inOrder(client: pg.Client, tables: readonly TableColumns[]): Promise<TableColumns[]> {
  const { rows } = await client.query<{ name: string; target: string }>(`
    select conrelid::regclass::text as name, confrelid::regclass::text as target
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`);
  const ordered = new Set<string>();
  const add = (name: string) => {
    if (ordered.has(name)) return;
    for (const { name: from, target } of rows) if (from === name && target !== name) add(target);
    ordered.add(name);
  };
  for (const { name } of tables) add(name);
  return [...ordered].flatMap((name) => tables.find((table) => table.name === name) ?? []);
}

async function versionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `select coalesce(max(version), 0)::int as version from ${VERSION.name}`,
  );
  return rows[0]?.version ?? 0;
}

/** The names that tables of any version have had, which are the same in both engines. */
async function tableNames(clock: Clock): Promise<Set<string>> {
  const { db } = openSqlite(":memory:", { synchronous: "NORMAL", writers: new WriteQueue(clock) });
  try {
    const names = new Set<string>();
    await db.transaction().execute(async (tx) => {
      for (let to = 1; to <= LATEST_VERSION; to++) {
        await migrateIn(tx, sqliteDialect, { clock, to });
        for (const name of (await sqliteDialect.columns(tx)).keys()) names.add(name);
      }
    });
    return names;
  } finally {
    await db.destroy();
  }
}
