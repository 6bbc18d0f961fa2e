/** Finds the faults of a store that the engine itself can find: damaged files and indexes, and rows that refer to none. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import type { Db } from "./dialect.js";
import { databaseFault, StoreRefused } from "./fault.js";
import { postgresDialect } from "./postgres.js";
import { type Reference, TABLES, type TableShape } from "./schema/schema.js";
import { isDamaged, SQLITE_FILE } from "./sqlite.js";

type EngineDamage = "file-damaged" | "index-damaged";
type OnDamage = (kind: EngineDamage, found: string) => void;

/** Reports that are read. */
const MAX_REPORTS = 100;
const OF_INDEX = /missing from index|wrong # of entries in index|non-unique entry in index/;

/** Checks the file of a SQLite store, however damaged it is. Takes about as long as reading it twice. Throws without a file. */
export function checkFile(dataDir: string, onDamage: OnDamage): void {
  const path = join(dataDir, SQLITE_FILE);
  if (!existsSync(path)) throw new StoreRefused(`There is no database in ${dataDir}.`);
  const raw = new DatabaseSync(path, { readOnly: true, timeout: 5_000, allowExtension: false });
  try {
    for (const row of raw.prepare(`pragma integrity_check(${MAX_REPORTS})`).iterate()) {
      const found = String(Object.values(row)[0]);
      if (found !== "ok") onDamage(OF_INDEX.test(found) ? "index-damaged" : "file-damaged", found);
    }
  } catch (error) {
    if (!isDamaged(error)) throw error;
    onDamage("file-damaged", error.message);
  } finally {
    raw.close();
  }
}

/** Checks the tables of a PostgreSQL store with `amcheck` if this user may run it, and otherwise by reading every row. */
export async function checkServer(db: Db, onDamage: OnDamage): Promise<void> {
  const { rows: allowed } = await sql<{ name: string }>`select distinct proname as name from pg_proc
    where proname in ('verify_heapam', 'bt_index_check') and pg_function_is_visible(oid)
      and has_function_privilege(oid, 'execute')`.execute(db);
  const hasAmcheck = allowed.length === 2;
  for (const name of (await postgresDialect.tables(db)).filter((one) => one in TABLES)) {
    const table = sql.table(name);
    await reporting("file-damaged", name, async () => {
      if (!hasAmcheck) return void (await sql`select max(length(t::text)) from ${table} t`.execute(db));
      const { rows } = await sql<{
        msg: string;
      }>`select msg from verify_heapam(${name}::regclass) limit 5`.execute(db);
      for (const { msg } of rows) onDamage("file-damaged", `${name}: ${msg}`);
    });
    if (!hasAmcheck) continue;
    const { rows: indexes } = await sql<{ index: string }>`select indexrelid::regclass::text as index
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
      where i.indrelid = ${name}::regclass and a.amname = 'btree' and c.relkind = 'i'`.execute(db);
    for (const { index } of indexes)
      await reporting("index-damaged", index, async () => {
        await sql`select bt_index_check(${index}::regclass)`.execute(db);
      });
  }

  async function reporting(kind: EngineDamage, what: string, check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Error) || databaseFault(error) !== undefined) throw error;
      onDamage(kind, `${what}: ${error.message}`);
    }
  }
}

/** Rows that refer to one that is missing. */
export interface Orphans extends Reference {
  table: string;
  value: number | string;
  rows: number;
}

/** Finds rows that refer to others that are missing, at most 100 missing values of each reference. */
export async function findOrphans(db: Db, shapes: readonly TableShape[]): Promise<Orphans[]> {
  const found: Orphans[] = [];
  for (const { name: table, references } of shapes)
    for (const reference of references) {
      const own = sql.ref(reference.column);
      // Not a join, as one of the tables may be distributed.
      const { rows } = await sql<{
        value: number | string | null;
      }>`select ${own} as value from ${sql.table(table)}
        except select ${sql.ref(reference.targetColumn)} from ${sql.table(reference.target)} limit 102`.execute(
        db,
      );
      for (const { value } of rows) {
        // Ids up to 0 stand for all repositories.
        if (value === null || Number(value) <= 0) continue;
        const counted = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}
          where ${own} = ${value}`.execute(db);
        found.push({ table, ...reference, value, rows: counted.rows[0]?.rows ?? 0 });
      }
    }
  return found;
}

export async function removeOrphans(db: Db, orphans: readonly Orphans[]): Promise<void> {
  for (const { table, column, value } of orphans)
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${value}`.execute(db);
}
