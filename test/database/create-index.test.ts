import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { sql } from "kysely";
import type { Db } from "../../src/database/dialect.js";
import { onSqlite } from "../support/engines.js";

/** More than SQLite sorts without a file. */
const ROWS = 60_000;
/** As `pragma temp_store` has them. */
const [IN_FILES, IN_MEMORY] = [1, 2];

onSqlite("Sorting in files", (engine) => {
  test("is for the catalogue alone, in the folder of the database, and leaves nothing there", async () => {
    const { write, durable, read } = await engine.open();
    const { dataDir } = engine.location();
    const files = readdirSync(dataDir).sort();
    const settingOf = async (db: Db, name: string) => {
      const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db);
      return rows[0]?.[name];
    };
    assert.deepEqual(
      [await settingOf(write, "temp_store"), await settingOf(write, "temp_store_directory")],
      [IN_FILES, dataDir],
    );
    assert.deepEqual(
      [await settingOf(durable, "temp_store"), await settingOf(read, "temp_store")],
      [IN_MEMORY, IN_MEMORY],
    );
    await sql`create table large (a integer, b text)`.execute(write);
    await sql`insert into large with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(ROWS)})
      select (n * 7919) % ${sql.lit(ROWS)}, 'the text of a row' from numbers`.execute(write);
    await sql`create index large_a on large (a)`.execute(write);
    assert.deepEqual(readdirSync(dataDir).sort(), files);
  });
});
