import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { databaseFault } from "../../src/database/fault.js";
import { columns } from "../../src/database/prepared.js";
import { onBothEngines } from "../support/engines.js";

onBothEngines("A prepared statement", (engine) => {
  let database: Database;
  const marks = ["a", "b", "c"].map((name, i) => ({ name, value: `value ${i}` }));
  before(async () => {
    database = await engine.open();
    await database.durable.insertInto("marks").values(marks).execute();
  });

  test("names columns once, and the position of their values", async () => {
    const { sql: list, at, names, count } = columns("marks", "m", ["value", "name"]);
    const read = database.prepare<null, [string, string, number]>(
      () => sql`select ${list}, 1 from marks m order by name limit 1`,
    );
    const [row] = await read(null);
    assert.deepEqual([row?.[at.name], row?.[at.value], row?.[count]], ["a", "value 0", 1]);
    assert.deepEqual(names, ["value", "name"]);
  });

  test("takes its values from each run, and returns rows as arrays", async () => {
    const find = database.prepare<{ from: string; to: string }, [string, string]>((given) => {
      const { from, to } = { from: given((range) => range.from), to: given((range) => range.to) };
      return sql`select ${columns("marks", "m", ["name", "value"]).sql} from marks m
        where name >= ${from} and name <= ${to} and value like ${"value%"} order by name`;
    });
    assert.deepEqual(await find({ from: "b", to: "z" }), [
      ["b", "value 1"],
      ["c", "value 2"],
    ]);
    assert.deepEqual(await find({ from: "a", to: "a" }), [["a", "value 0"]]);
    assert.deepEqual(await find({ from: "x", to: "a" }), []);
    const runs = await Promise.all(marks.map(({ name }) => find({ from: name, to: name })));
    assert.deepEqual(
      runs.map(([row]) => row?.[0]),
      ["a", "b", "c"],
    );
  });

  if (engine.name === "postgres")
    test("is known to a connection once, however often it is built", async () => {
      for (let i = 0; i < 5; i++)
        await database.prepare<null, [string]>(() => sql`select name from marks`)(null);
      const known = database.prepare<null, [number]>(
        () => sql`select count(*) from pg_prepared_statements where statement = 'select name from marks'`,
      );
      assert.deepEqual(await known(null), [[1]]);
    });

  test("takes a list of any length as one value", async () => {
    const among = database.prepare<readonly number[], [number]>(
      (given) => sql`select id from (select 1 as id union all select 2 union all select 3) as t
        where ${database.dialect.among(
          sql`id`,
          given((ids) => ids),
        )} order by id`,
    );
    assert.deepEqual(await among([3, 1, 9]), [[1], [3]]);
    assert.deepEqual(await among([]), []);
    const many = Array.from({ length: 5_000 }, (_, i) => i + 2);
    assert.deepEqual(await among(many), [[2], [3]]);
  });

  test("returns numbers as numbers, exact up to 2^53, and null as null", async () => {
    const count = database.prepare<null, [number, number, number, null]>(
      () => sql`select count(*), ${sql.lit(2 ** 53 - 1)}, 0.5, null from marks`,
    );
    assert.deepEqual(await count(null), [[3, 2 ** 53 - 1, 0.5, null]]);
  });

  test("returns the same rows however many columns they have, again and again", async () => {
    const texts = ["plain", 'with "quotes" and \\', "line\nbreak", "\u{1f680} é", ""];
    const numbers = [0, -1, 2 ** 53 - 1, 0.1, 4.5233518036865316e-5, 1e21];
    const wide = [...texts, ...numbers, null];
    const read = database.prepare<null, (string | number | null)[]>(
      () => sql`select ${sql.join([...wide, ...wide].map((value) => sql.lit(value)))}
        from marks where name <= 'b' order by name`,
    );
    for (let run = 0; run < 3; run++) {
      const rows = await read(null);
      assert.deepEqual(rows, [
        [...wide, ...wide],
        [...wide, ...wide],
      ]);
    }
    const none = database.prepare<null, (string | number | null)[]>(
      () => sql`select ${sql.join(wide.map((value) => sql.lit(value)))} from marks where name = 'no such'`,
    );
    for (let run = 0; run < 3; run++) assert.deepEqual(await none(null), []);
  });

  test("continues after its table was replaced by another", async () => {
    const { dialect, durable } = database;
    const table = sql`(a ${dialect.types.integer} not null, b ${dialect.types.text})`;
    await sql`create table rebuilt ${table}`.execute(durable);
    const read = database.prepare<null, [number]>(() => sql`select a from rebuilt`);
    assert.deepEqual(await read(null), []);
    await durable.transaction().execute(async (tx) => {
      await sql`drop table rebuilt`.execute(tx);
      await sql`create table rebuilt ${table}`.execute(tx);
      await sql`insert into rebuilt (a) values (7)`.execute(tx);
    });
    assert.deepEqual(await read(null), [[7]]);
  });

  test("sees what this process has committed, and nothing of a transaction in progress", async () => {
    const count = database.prepare<null, [number]>(() => sql`select count(*) from marks where name = 'late'`);
    await database.write.transaction().execute(async (tx) => {
      await tx.insertInto("marks").values({ name: "late", value: "" }).execute();
      assert.deepEqual(await count(null), [[0]]);
    });
    assert.deepEqual(await count(null), [[1]]);
  });

  test("that the engine refuses throws an error that is no fault of the database, and others go on", async () => {
    const broken = database.prepare<null, [number]>(() => sql`select nothing from nowhere`);
    await assert.rejects(broken(null), (error) => databaseFault(error) === undefined);
    const works = database.prepare<null, [number]>(() => sql`select 1`);
    assert.deepEqual(await works(null), [[1]]);
  });
});
