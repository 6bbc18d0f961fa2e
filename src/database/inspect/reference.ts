import { sql } from "kysely";
import type { Clock } from "../../clock.js";
import type { Db } from "../dialect.js";
import { migrate } from "../migrate.js";
import { openSqlite, sqliteDialect } from "../sqlite.js";
import { WriteQueue } from "../sqlite-writer.js";

/** The schema that a store of this version has, apart from what differs between the engines. */
export interface ReferenceSchema {
  /** By table. */
  columns: ReadonlyMap<string, readonly string[]>;
  /** The statement that creates an index, by its name. Those of keys have none of their own. */
  indexes: ReadonlyMap<string, string>;
  references: readonly Reference[];
}

/** Rows of `table` refer to rows of `target`. */
export interface Reference {
  table: string;
  column: string;
  target: string;
  targetColumn: string;
}

/** The indexes of rollups have the number of a rebuild in their names. */
export const INDEX_OF_ROLLUPS = /^rollups_/;

let reference: Promise<ReferenceSchema> | undefined;

/** Reads it from an empty database in memory, which takes some 50 ms; once in a process, with the clock of its first caller. */
export function readReference(clock: Clock): Promise<ReferenceSchema> {
  reference ??= readFresh(clock).catch((error: unknown) => {
    reference = undefined;
    throw error;
  });
  return reference;
}

async function readFresh(clock: Clock): Promise<ReferenceSchema> {
  const { db } = openSqlite(":memory:", { synchronous: "NORMAL", writers: new WriteQueue(clock) });
  try {
    await migrate(db, sqliteDialect, { clock });
    return { columns: await columnsOf(db), indexes: await indexesOf(db), references: await referencesOf(db) };
  } finally {
    await db.destroy();
  }
}

async function columnsOf(db: Db): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; column: string }>`
    select t.name, c.name as "column" from pragma_table_list t, pragma_table_info(t.name) c
    where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' order by t.name, c.cid`.execute(
    db,
  );
  return new Map(
    [...Map.groupBy(rows, ({ name }) => name)].map(([name, own]) => [name, own.map(({ column }) => column)]),
  );
}

async function indexesOf(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; text: string }>`
    select name, sql as text from sqlite_schema where type = 'index' and sql is not null order by name`.execute(
    db,
  );
  return new Map(
    rows.filter(({ name }) => !INDEX_OF_ROLLUPS.test(name)).map(({ name, text }) => [name, text]),
  );
}

async function referencesOf(db: Db): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select t.name as "table", f."from" as "column", f."table" as target, f."to" as "targetColumn"
    from pragma_table_list t, pragma_foreign_key_list(t.name) f
    where t.schema = 'main' order by t.name, f.id`.execute(db);
  return rows;
}
