import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { createRollupTable, indexRollupTable } from "../../src/database/rollup-tables.js";
import { type Engine, onBothEngines } from "../support/engines.js";

interface Column {
  name: string;
  nullable: boolean;
}

/** Tables that our own code reads only in part, or not at all: the rest belongs to the sign-in library. */
const PARTLY_TYPED = ["accounts"];
const UNTYPED = ["identities", "passkeys", "sessions", "verifications"];

onBothEngines("The migrated schema", (engine) => {
  let database: Database;
  before(async () => {
    database = await engine.open();
  });

  test("has exactly the tables and columns that the code's types say, null where they say so", async () => {
    const typed = typedTables();
    const tables = (await tableNames(engine, database)).filter((name) => !UNTYPED.includes(name));
    const expected = [...typed.keys()].filter((name) => name !== "rollups_next");
    assert.deepEqual(tables.toSorted(), expected.toSorted());
    for (const table of tables) {
      const sorted = (columns: readonly Column[]) =>
        columns
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, nullable }) => ({ name, nullable }));
      const inTypes = sorted(typed.get(table) ?? []);
      const names = new Set(inTypes.map(({ name }) => name));
      const inDatabase = (await columnsOf(engine, database, table)).filter(
        ({ name }) => names.has(name) || !PARTLY_TYPED.includes(table),
      );
      assert.deepEqual(sorted(inDatabase), inTypes, table);
    }
  });

  test("has the same table of rollups as a full rebuild creates", async () => {
    await createRollupTable(database.dialect, "rollups_next", 7).execute(database.durable);
    for (const index of indexRollupTable("rollups_next", 7)) await index.execute(database.durable);
    const migrated = await definitionOf(engine, database, "rollups", 0);
    assert.ok(migrated.length > 8, "the definition was not read");
    assert.deepEqual(await definitionOf(engine, database, "rollups_next", 7), migrated);
  });
});

test("Migrations import nothing that may change after they are released", () => {
  const folder = "src/database/migrations";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.ts$/.test(file),
  );
  assert.ok(files.length > 1);
  for (const file of files) {
    for (const [line] of readFileSync(`${folder}/${file}`, "utf8").matchAll(/^(?:import|\} from) .*$/gm))
      assert.match(
        line,
        /"kysely";$|import type \{.*"(?:\.\.\/)+migration\.js";$|"\.\/\d{4}-/,
        `${file}: ${line}`,
      );
  }
});

/** The tables of the `Schema` type with their columns, read from the source. */
function typedTables(): Map<string, Column[]> {
  const files = readdirSync("src/database").filter((name) => name.endsWith("schema.ts"));
  const source = files.map((name) => readFileSync(`src/database/${name}`, "utf8")).join("\n");
  const columnsIn = (body: string, indent: number): Column[] =>
    [...body.matchAll(new RegExp(`^ {${indent}}(\\w+): (.+);$`, "gm"))].map(
      ([, name = "", type = ""]): Column => ({ name, nullable: type.endsWith("| null") }),
    );
  const types = new Map(
    [...source.matchAll(/^export interface (\w+Table) \{\n(.*?)^\}/gms)].map(
      ([, name = "", body = ""]): [string, Column[]] => [name, columnsIn(body, 2)],
    ),
  );
  const named = [...source.matchAll(/^ {2}(\w+): (\w+Table);$/gm)].map(
    ([, table = "", type = ""]): [string, Column[]] => [table, types.get(type) ?? []],
  );
  const inline = [...source.matchAll(/^ {2}(\w+): \{\n(.*?)^ {2}\};/gms)].map(
    ([, table = "", body = ""]): [string, Column[]] => [table, columnsIn(body, 4)],
  );
  return new Map([...named, ...inline]);
}

async function tableNames(engine: Engine, { read }: Database): Promise<string[]> {
  const query =
    engine.name === "sqlite"
      ? sql<{
          name: string;
        }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`
      : sql<{
          name: string;
        }>`select tablename as name from pg_tables where schemaname = 'public'`;
  return (await query.execute(read)).rows.map(({ name }) => name);
}

async function columnsOf(engine: Engine, { read }: Database, table: string): Promise<Column[]> {
  const query =
    engine.name === "sqlite"
      ? sql<{ name: string; required: unknown }>`select name, "notnull" or pk > 0 as required
          from pragma_table_info(${table})`
      : sql<{ name: string; required: unknown }>`select column_name as name, is_nullable = 'NO' as required
          from information_schema.columns where table_name = ${table}`;
  return (await query.execute(read)).rows.map(({ name, required }) => ({ name, nullable: !required }));
}

/** The definition of a table, its keys and its indexes, with the names that differ by generation made equal. */
async function definitionOf(
  engine: Engine,
  { read }: Database,
  table: string,
  generation: number,
): Promise<string[]> {
  const query =
    engine.name === "sqlite"
      ? sql<{ part: string }>`
          select cid || ' ' || name || ' ' || type || ' ' || "notnull" || ' ' || pk as part from pragma_table_info(${table})
          union all select sql from sqlite_schema where type = 'index' and tbl_name = ${table} and sql is not null
          union all select 'without rowid ' || wr from pragma_table_list(${table})`
      : sql<{ part: string }>`
          select concat_ws(' ', row_number() over (order by ordinal_position), column_name, data_type, collation_name, is_nullable) as part
          from information_schema.columns where table_name = ${table}
          union all select indexdef from pg_indexes where tablename = ${table}
          union all select conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
            where conrelid = ${table}::regclass`;
  const { rows } = await query.execute(read);
  return rows
    .map(({ part }) =>
      part
        .replaceAll("rollups_next", "rollups")
        // PostgreSQL numbers these names where an older table has them.
        .replaceAll(/_not_null\d+\b/g, "_not_null")
        .replaceAll(new RegExp(`\\b(rollups_\\w+)_${generation}\\b`, "g"), "$1")
        .replaceAll(/["\s]+/g, " ")
        .trim(),
    )
    .toSorted();
}
