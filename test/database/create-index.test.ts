import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { before, test } from "node:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";
import { onBothEngines, onSqlite } from "../support/engines.js";

/** More than SQLite sorts without a file. */
const ROWS = 60_000;

/** As `pragma temp_store` has it. */
const IN_MEMORY = 2;

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
  test("uses the folder of the database, leaves nothing there, and only for the index", async () => {
    const database = await engine.open();
    await makeLarge(database);
    const settings = async () => {
      const { rows } = await sql`select t.temp_store, c.cache_size
        from pragma_temp_store t, pragma_cache_size c`.execute(database.write);
      return rows;
    };
    const { dataDir } = engine.location();
    const [set, files] = [await settings(), readdirSync(dataDir).sort()];
    assert.deepEqual(set, [{ temp_store: IN_MEMORY, cache_size: -65_536 }]);
    await createIn(database, "a");
    assert.deepEqual(await settings(), set);
    await assert.rejects(createIn(database, "c"));
    assert.deepEqual(await settings(), set);
    const { rows } = await sql<{ temp_store_directory: string }>`pragma temp_store_directory`.execute(
      database.write,
    );
    assert.equal(rows[0]?.temp_store_directory, dataDir);
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
