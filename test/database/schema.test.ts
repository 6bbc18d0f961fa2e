import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { SHAPES, TABLES } from "../../src/database/schema/schema.js";
import { type Engine, onBothEngines } from "../support/engines.js";

interface Column {
  name: string;
  nullable: boolean;
}

onBothEngines("The schema", (engine) => {
  let database: Database;
  before(async () => {
    database = await engine.open();
  });

  test("has exactly the described tables and columns, null if they say so", async () => {
    assert.deepEqual((await tableNames(engine, database)).toSorted(), Object.keys(TABLES).toSorted());
    for (const [table, { columns }] of Object.entries(TABLES)) {
      const described = Object.entries(columns).map(
        ([name, { facts }]): Column => ({ name, nullable: facts.isOptional === true }),
      );
      assert.deepEqual(await columnsOf(engine, database, table), described, table);
    }
  });

  test("refers to the tables that its descriptions name", async () => {
    const declared = SHAPES.flatMap(({ name, references }) =>
      TABLES[name as keyof typeof TABLES].columns === undefined
        ? []
        : references.map(({ column, target }) => `${name}.${column} ${target}`),
    );
    for (const one of await foreignKeys(engine, database)) assert.ok(declared.includes(one), one);
  });
});

async function foreignKeys(engine: Engine, { read }: Database): Promise<string[]> {
  const query =
    engine.name === "sqlite"
      ? sql<{ key: string }>`select t.name || '.' || f."from" || ' ' || f."table" as key
          from pragma_table_list t, pragma_foreign_key_list(t.name) f where t.schema = 'main'`
      : sql<{
          key: string;
        }>`select conrelid::regclass || '.' || a.attname || ' ' || confrelid::regclass as key
          from pg_constraint join pg_attribute a on attrelid = conrelid and attnum = conkey[1] where contype = 'f'`;
  const { rows } = await query.execute(read);
  assert.ok(rows.length > 5);
  return rows.map(({ key }) => key);
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
          from pragma_table_info(${table}) order by cid`
      : sql<{ name: string; required: unknown }>`select column_name as name, is_nullable = 'NO' as required
          from information_schema.columns where table_name = ${table} order by ordinal_position`;
  return (await query.execute(read)).rows.map(({ name, required }) => ({ name, nullable: !required }));
}
