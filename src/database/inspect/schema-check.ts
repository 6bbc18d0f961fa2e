/** Checks the schema of a store against that of an empty one, and creates missing indexes. */
import { sql } from "kysely";
import type { Clock } from "../../lib/clock.js";
import type { Db, Dialect } from "../dialect.js";
import { currentVersion, LATEST_VERSION, migrate } from "../migrate.js";
import { openSqlite, sqliteDialect } from "../sqlite.js";
import { WriteQueue } from "../sqlite-writer.js";

/** Kinds of damage of the tables of a store, apart from their rows. */
export type SchemaDamage =
  | "schema-newer"
  | "schema-older"
  | "table-missing"
  | "column-missing"
  | "index-missing"
  | "reference-broken"
  | "sequence-behind";

type OnDamage = (kind: SchemaDamage, found: string) => void;

/** Checks the version, tables, columns and indexes. Returns whether the rows can be understood. */
export async function checkSchema(
  db: Db,
  dialect: Dialect,
  { reference, onDamage }: { reference: ReferenceSchema; onDamage: OnDamage },
): Promise<boolean> {
  const columns = await dialect.columns(db);
  const version = columns.has("schema_version") ? await currentVersion(db) : 0;
  if (version > LATEST_VERSION) onDamage("schema-newer", `version ${version}, known ${LATEST_VERSION}`);
  else if (version < LATEST_VERSION && version > 0)
    onDamage("schema-older", `version ${version} of ${LATEST_VERSION}`);
  if (version !== LATEST_VERSION && version > 0) return false;
  let isWhole = true;
  for (const [table, expected] of reference.columns) {
    const own = columns.get(table);
    if (own === undefined) onDamage("table-missing", table);
    const missing = own === undefined ? [] : expected.filter((column) => !own.includes(column));
    for (const column of missing) onDamage("column-missing", `${table}.${column}`);
    if (own === undefined || missing.length > 0) isWhole = false;
  }
  if (!isWhole) return false;
  const indexes = await dialect.indexes(db);
  for (const name of reference.indexes.keys()) if (!indexes.has(name)) onDamage("index-missing", name);
  for (const name of await dialect.sequencesBehind(db)) onDamage("sequence-behind", name);
  return true;
}

/** Finds rows that refer to a row that does not exist. */
export async function checkReferences(
  db: Db,
  { references, onDamage }: { references: readonly Reference[]; onDamage: OnDamage },
): Promise<void> {
  for (const { table, column, target, targetColumn } of references) {
    const [own, other] = [sql.ref(`t.${column}`), sql.ref(`o.${targetColumn}`)];
    const { rows } = await sql<{ value: unknown; count: number }>`
      select ${own} as value, count(*) as count from ${sql.table(table)} t
      where ${own} is not null and not exists (select 1 from ${sql.table(target)} o where ${other} = ${own})
      group by ${own} limit 100`.execute(db);
    for (const { value, count } of rows)
      onDamage("reference-broken", `${table}.${column}: ${count} rows refer to ${target} ${value}`);
  }
}

/** Creates the indexes that are missing. */
export async function createIndexes(db: Db, dialect: Dialect, reference: ReferenceSchema): Promise<void> {
  const indexes = await dialect.indexes(db);
  for (const [name, text] of reference.indexes) if (!indexes.has(name)) await sql.raw(text).execute(db);
}

/** The schema that a store of this version has, apart from what differs between the engines. */
export interface ReferenceSchema {
  /** By table. */
  columns: ReadonlyMap<string, readonly string[]>;
  /** The statement that creates an index, by its name. Those of keys have none of their own. */
  indexes: ReadonlyMap<string, string>;
  references: readonly Reference[];
}

/** Rows of `table` refer to rows of `target`. */
interface Reference {
  table: string;
  column: string;
  target: string;
  targetColumn: string;
}

/** The indexes of rollups have the number of a rebuild in their names. */
const INDEX_OF_ROLLUPS = /^rollups_/;

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
