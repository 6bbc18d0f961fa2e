import { sql } from "kysely";
import type { Db, Dialect } from "../dialect.js";
import { currentVersion, LATEST_VERSION } from "../migrate.js";
import type { Reference, ReferenceSchema } from "./reference.js";

/** What is wrong with the tables of a store, apart from their rows. */
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

/** Rows that refer to a row that is not there, of all tables with foreign keys but those of `except`. */
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
