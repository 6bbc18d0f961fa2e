import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { before, test } from "node:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../src/database/database.js";
import type { Db } from "../../src/database/dialect.js";
import { createLog } from "../../src/lib/log.js";
import { onBothEngines, onSqlite } from "../support/engines.js";

/** More than SQLite sorts without a file. */
const ROWS = 60_000;

/** As `pragma temp_store` has them. */
const [IN_FILES, IN_MEMORY] = [1, 2];

/** A table whose rows are not in the order of the index. */
async function makeLarge({ write, dialect }: Database): Promise<void> {
  await sql`create table large (a ${dialect.types.integer}, b ${dialect.types.text})`.execute(write);
  await sql`insert into large with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(ROWS)})
    select (n * 7919) % ${sql.lit(ROWS)}, 'the text of a row' from numbers`.execute(write);
}

const createIn = ({ write, dialect }: Database, columns: string): Promise<void> =>
  write
    .transaction()
    .execute((tx) =>
      dialect.createIndex(
        tx,
        sql`create index ${sql.raw(`large_${columns}`)} on large (${sql.raw(columns)})`,
      ),
    );

onBothEngines("An index on many rows", (engine) => {
  let database: Database;
  before(async () => {
    database = await engine.open();
    await makeLarge(database);
  });

  test("is created, and holds all of them", async () => {
    await createIn(database, "a");
    assert.ok((await database.dialect.indexes(database.read)).has("large_a"));
    const { rows } = await sql<{ found: number }>`select count(*) as found from large where a >= 10`.execute(
      database.read,
    );
    assert.equal(Number(rows[0]?.found), ROWS - 10);
  });

  test("is not created if the statement fails", async () => {
    await assert.rejects(createIn(database, "c"));
    await createIn(database, "b");
    assert.deepEqual(
      [...(await database.dialect.indexes(database.read))].filter((name) => name.startsWith("large")).sort(),
      ["large_a", "large_b"],
    );
  });
});

onSqlite("Sorting in files", (engine) => {
  test("is for the catalogue alone, in the folder of the database, of which nothing is left there", async () => {
    const { write, durable, read, ...database } = await engine.open();
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
    const all = { ...database, write, durable, read };
    await makeLarge(all);
    const cache = await settingOf(write, "cache_size");
    await createIn(all, "a");
    // From here on SQLite refuses to change where it keeps what is temporary.
    await sql`alter table large rename to larger`.execute(write);
    await sql`alter table larger rename to large`.execute(write);
    await createIn(all, "b");
    await assert.rejects(createIn(all, "c"));
    assert.equal(await settingOf(write, "cache_size"), cache);
    assert.deepEqual(readdirSync(dataDir).sort(), files);
  });

  test("is not needed by a database in memory", async () => {
    const database = await openDatabase({
      url: undefined,
      dataDir: ":memory:",
      pool: 1,
      log: createLog("silent"),
    });
    await makeLarge(database);
    await createIn(database, "a");
    assert.ok((await database.dialect.indexes(database.read)).has("large_a"));
    await database.close();
  });
});
