import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { migrate } from "../../src/database/migrate.js";
import { systemClock } from "../../src/lib/clock.js";
import { dumpStore, makeOldStore } from "../reliability/support/old-stores.js";
import { openOldStore } from "../reliability/support/open-old-store.js";
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
    const expected = [...typed.keys()];
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
});

onBothEngines("A store of version 17", (engine) => {
  const opened: ReturnType<typeof openOldStore>[] = [];
  after(() => Promise.all(opened.map((store) => store.close())));

  const openOld = async () => {
    const database = await engine.open();
    const { url, dataDir } = engine.location();
    const store = openOldStore(url ?? join(dataDir, "sidereal.db"));
    opened.push(store);
    await makeOldStore(store);
    return { database, store, upgrade: () => migrate(store.db, store.dialect, { clock: systemClock }) };
  };
  const definitions = async (database: Database) => {
    const tables = (await tableNames(engine, database)).toSorted();
    return Promise.all(tables.map(async (table) => [table, await definitionOf(engine, database, table)]));
  };

  test("is adopted with all rows, and has the schema of a new store then", async () => {
    const { database, store, upgrade } = await openOld();
    const before = await dumpStore(store);
    await upgrade();
    assert.deepEqual(await definitions(database), await definitions(await engine.open()));
    const after = await dumpStore(store);
    const changed = [
      "definitions",
      "schema_version",
      "revision",
      "repositories",
      "renames",
      "outdated",
      "tracking",
      "walks",
    ];
    changed.push(
      "track_requests",
      "avatars",
      "usage_routes",
      "usage_callers",
      "usage_allowances",
      "previous_names",
    );
    for (const [table, rows] of Object.entries(before))
      if (table in after && !changed.includes(table)) assert.deepEqual(after[table], rows, table);
    const rows = async (query: string) =>
      (await sql<object>`${sql.raw(query)}`.execute(database.read)).rows.map((row) => Object.values(row));
    assert.deepEqual(await rows("select * from renames"), [[3, 1, "AVAILABLE", 40, "[]"]]);
    assert.deepEqual(await rows("select id, availability from repositories order by id"), [
      [1, "AVAILABLE"],
      [2, "AVAILABLE"],
      [3, "RENAMED"],
    ]);
    assert.deepEqual(await rows("select kind, repository_id from outdated order by 1, 2"), [
      ["rollups", 1],
      ["rollups", 2],
    ]);
    assert.deepEqual(await rows("select repository_id, failures from tracking"), [[1, 2]]);
    assert.deepEqual(await rows("select next_at, started_at, found, walks from walks"), [[1, 2, 3, 4]]);
    assert.deepEqual(await rows("select full_name, retry_at from track_requests"), [["o/new", 7]]);
    assert.deepEqual(
      await rows("select owner, version, length(png), wanted_at from avatars order by owner"),
      [
        ["none", null, null, 2],
        ["octo", "0123", 3, 2],
        ["twin", "0123", 3, 2],
      ],
    );
    // Sums of hours, of six hours and of days keep their totals.
    for (const table of ["usage_routes", "usage_callers"])
      assert.deepEqual(
        await rows(`select sum(requests) as n from ${table} group by from_at / 86400000 order by 1`),
        [[30], [50]],
        table,
      );
    assert.deepEqual(
      await rows("select min(lowest) as n from usage_allowances group by from_at / 86400000 order by 1"),
      [[40], [60]],
    );
    assert.deepEqual(await rows("select at, event, detail from account_events order by at"), [
      [1, "signed_in", '{"method":"link"}'],
      [2, "signed_in", '{"method":"link","times":3}'],
      [4, "signed_out", '{"times":2}'],
    ]);
  });

  test("is the oldest that is adopted", async () => {
    const { store, upgrade } = await openOld();
    await sql`update schema_version set version = 16`.execute(store.db);
    const before = await dumpStore(store);
    await assert.rejects(
      upgrade(),
      /at version 16, and this Sidereal needs version 17 or later\. Export it with the Sidereal that made it/,
    );
    assert.deepEqual(await dumpStore(store), before);
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

/** The definition of a table, its keys and its indexes. */
async function definitionOf(engine: Engine, { read }: Database, table: string): Promise<string[]> {
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
        // PostgreSQL names these after the table as it was made, and numbers them if another one has the name.
        .replaceAll(/\w+_not_null\d*\b/g, "not_null")
        .replaceAll(/["\s]+/g, " ")
        .trim(),
    )
    .toSorted();
}
