/** Stores as they are: opened without a migration, read whole, and statements counted. */
import { type KyselyPlugin, sql } from "kysely";
import type { Db, Dialect } from "../../../src/database/dialect.js";
import { connectTo, openPool, postgresDialect } from "../../../src/database/postgres.js";
import { openSqlite, sqliteDialect } from "../../../src/database/sqlite.js";
import { WriteQueue } from "../../../src/database/sqlite-writer.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";

/** A connection to a store of any version. */
export interface OpenStore {
  db: Db;
  dialect: Dialect;
}

/** Opens a store without migrating it. `place`: a SQLite file, or the address of a PostgreSQL database. */
export function openStore(place: string): OpenStore & { close(): Promise<void> } {
  if (!place.startsWith("postgres:")) {
    const { db } = openSqlite(place, { synchronous: "FULL", writers: new WriteQueue(systemClock) });
    return { db, dialect: sqliteDialect, close: () => db.destroy() };
  }
  const { db } = connectTo(openPool(place, { pool: 1, reads: false, log: createLog("silent") }));
  return { db, dialect: postgresDialect, close: () => db.destroy() };
}

/** Calls `before` with the number of each statement, from 1, before it is sent; it may throw. */
export function counting(before: (statement: number) => void): KyselyPlugin {
  let statements = 0;
  return {
    transformQuery({ node }) {
      before(++statements);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

/** Columns that creating a store fills with the time, or at random. */
const OWN = new Set(["schema_version.applied_at", "revision.store", "revision.marks"]);

/** Everything that is stored: the definitions, and all rows of all tables as sorted texts. */
export async function dumpStore({ db, dialect }: OpenStore): Promise<Record<string, unknown>> {
  const dump: Record<string, unknown> = {};
  const [definitions, tables] = dialect.engine === "sqlite" ? sqliteSchema : postgresSchema;
  dump.definitions = (await definitions.execute(db)).rows.map((row) => JSON.stringify(row));
  for (const { name } of (await tables.execute(db)).rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    dump[name] = rows
      .map((row) => JSON.stringify(Object.entries(row).filter(([column]) => !OWN.has(`${name}.${column}`))))
      .sort();
  }
  return dump;
}

type Table = { name: string };
const sqliteSchema = [
  sql`select type, name, tbl_name, sql from sqlite_schema where name not like 'sqlite_%' order by type, name`,
  sql<Table>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`,
] as const;
const postgresSchema = [
  sql`select table_name as t, column_name as c, data_type || ' ' || is_nullable as d from information_schema.columns
    where table_schema = 'public' union all
    select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' union all
    select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace order by 1, 2, 3`,
  sql<Table>`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
] as const;
