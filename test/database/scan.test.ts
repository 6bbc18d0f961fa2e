import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { databaseFault } from "../../src/database/fault.js";
import { onBothEngines, onSqlite } from "../support/engines.js";

/** Long enough for many turns of the loop. */
const NUMBERS = 300_000;
const counted = sql<{ total: number }>`with recursive numbers(n) as (
    select 1 union all select n + 1 from numbers where n < ${sql.lit(NUMBERS)})
  select count(*) as total from numbers`;

/** The turns that the event loop takes until a promise is settled. */
async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  let turns = 0;
  for (; !isSettled; turns++) await setImmediate();
  return turns;
}

onBothEngines("A statement that may read much of the catalogue", (engine) => {
  let database: Database;
  before(async () => {
    database = await engine.open();
    await database.durable
      .insertInto("marks")
      .values([
        { name: "a", value: "one" },
        { name: "b", value: "two" },
      ])
      .execute();
  });

  test("returns the same rows as any other, with what was committed before", async () => {
    await database.write.updateTable("marks").set({ value: "three" }).where("name", "=", "b").execute();
    const named = (names: readonly string[]) => sql`select name, value, ${5} + 1 as six from marks
      where name in (${sql.join(names)}) order by name`;
    for (const names of [["a", "b"], ["b"], ["c"]]) {
      const { rows } = await named(names).execute(database.scan);
      assert.deepEqual(rows, (await named(names).execute(database.read)).rows);
      assert.equal(rows.length, names.filter((name) => name !== "c").length);
    }
  });

  test("lets the thread go on", async () => {
    const scan = counted.execute(database.scan);
    const turns = await turnsUntil(scan);
    assert.equal(Number((await scan).rows[0]?.total), NUMBERS);
    assert.ok(turns > 20, `${turns} turns`);
  });

  test("fails alone, as it would elsewhere", async () => {
    const failing = sql`select nothing from marks`.execute(database.scan);
    const working = sql<{ name: string }>`select name from marks order by name`.execute(database.scan);
    await assert.rejects(failing, /nothing/);
    assert.deepEqual(
      (await working).rows.map(({ name }) => name),
      ["a", "b"],
    );
  });
});

onSqlite("The thread that reads a SQLite catalogue", (engine) => {
  test("does not write", async () => {
    const { scan, read } = await engine.open();
    const written = sql`insert into marks (name, value) values ('x', 'y')`.execute(scan);
    await assert.rejects(written, (error) => databaseFault(error) === "unavailable");
    assert.deepEqual((await sql`select * from marks where name = 'x'`.execute(read)).rows, []);
  });

  test("takes four statements at a time, and refuses more as busy", async () => {
    const { scan } = await engine.open();
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => counted.execute(scan)));
    assert.deepEqual(
      all.map(({ status }) => status),
      [...Array(4).fill("fulfilled"), "rejected", "rejected"],
    );
    for (const one of all.slice(4))
      assert.equal(one.status === "rejected" && databaseFault(one.reason), "busy");
    assert.equal((await counted.execute(scan)).rows.length, 1);
  });

  test("fails with what is pending when it needs too much memory, and is replaced", async () => {
    const { scan } = await engine.open();
    const large =
      sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 200)
      select n || hex(zeroblob(500000)) as text from numbers`.execute(scan);
    const failed = await Promise.allSettled([large, counted.execute(scan)]);
    assert.deepEqual(
      failed.map((one) => one.status === "rejected" && databaseFault(one.reason)),
      ["unavailable", "unavailable"],
    );
    assert.equal(Number((await counted.execute(scan)).rows[0]?.total), NUMBERS);
  });

  test("runs nothing once the database is closed, not even what has its connection already", async () => {
    const database = await engine.open();
    await database.scan.connection().execute(async (connection) => {
      await counted.execute(connection);
      await database.close();
      await assert.rejects(counted.execute(connection), (error) => databaseFault(error) === "unavailable");
    });
    await assert.rejects(counted.execute(database.scan));
  });

  test("fails what is pending when the database is closed", async () => {
    const database = await engine.open();
    const ends = assert.rejects(
      counted.execute(database.scan),
      (error) => databaseFault(error) === "unavailable",
    );
    await setImmediate();
    await database.close();
    await ends;
  });
});
