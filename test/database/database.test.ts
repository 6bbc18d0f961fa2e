import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, FIRST_VERSION, LATEST_VERSION, openDatabase } from "../../src/database/database.js";
import { unsafeSqlite } from "../../src/database/sqlite.js";
import { createLog } from "../../src/lib/log.js";
import { unsafeNode } from "../../src/lib/node-version.js";
import { onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";

const log = createLog("silent");
const folder = temporaryFolder();

describe("Versions", () => {
  test("of Node.js with known faults are refused, and the message says which is needed", () => {
    for (const version of ["v20.20.2", "v24.18.0", "v24.9.9", "v23.99.99", "v0.0.0"]) {
      assert.match(
        unsafeNode(version) ?? "",
        new RegExp(`^Node\\.js ${version} is too old; 24\\.18\\.1 or newer is needed`),
      );
    }
    for (const version of ["v24.18.1", "v24.19.0", "v25.0.0", "v100.0.0"])
      assert.equal(unsafeNode(version), undefined);
    assert.equal(unsafeNode(process.version), undefined, "the tests run on one that is safe");
  });

  test("of SQLite that can corrupt a database are refused, one withdrawn release among them", () => {
    for (const version of ["3.7.0", "3.50.4", "3.51.2", "3.52.0", "2.99.99"]) {
      assert.match(
        unsafeSqlite(version) ?? "",
        new RegExp(`^SQLite ${version} can corrupt its database; 3\\.51\\.3 or newer`),
      );
    }
    for (const version of ["3.51.3", "3.51.10", "3.52.1", "3.53.0", "4.0.0"])
      assert.equal(unsafeSqlite(version), undefined);
  });
});

describe("The connections of a SQLite database", () => {
  const open = async () => {
    const dataDir = mkdtempSync(join(folder, "data-"));
    const database = await openDatabase({ url: undefined, dataDir, pool: 4, log });
    after(() => database.close());
    return { database, dataDir };
  };
  const pragma = async (database: Database, connection: "read" | "write" | "durable", name: string) => {
    const { rows } = await sql<Record<string, unknown>>`${sql.raw(`pragma ${name}`)}`.execute(
      database[connection],
    );
    return Object.values(rows[0] ?? {})[0];
  };

  test("promise what they are for: durable ones survive a power cut, the others a crash; one cannot write", async () => {
    const { database } = await open();
    const [normal, full] = [1, 2];
    assert.equal(await pragma(database, "durable", "synchronous"), full);
    assert.equal(await pragma(database, "write", "synchronous"), normal);
    assert.equal(await pragma(database, "read", "synchronous"), normal);
    for (const connection of ["read", "write", "durable"] as const) {
      assert.equal(await pragma(database, connection, "journal_mode"), "wal");
      assert.equal(await pragma(database, connection, "foreign_keys"), 1);
      // Writes wait without blocking the thread.
      assert.equal(await pragma(database, connection, "busy_timeout"), connection === "read" ? 5_000 : 0);
    }
    const mark = { name: "x", value: "y" };
    await assert.rejects(database.read.insertInto("marks").values(mark).execute(), /readonly/);
    await assert.rejects(sql`delete from revision`.execute(database.read), /readonly/);
    await assert.rejects(sql`create table t (a)`.execute(database.read), /readonly/);
    await database.durable.insertInto("marks").values(mark).execute();
    const [found] = await database.read.selectFrom("marks").selectAll().execute();
    assert.deepEqual({ ...found }, mark);
  });

  test("keep a reader's view still while others write", async () => {
    const { database } = await open();
    await database.read.transaction().execute(async (tx) => {
      const marks = async () => (await tx.selectFrom("marks").selectAll().execute()).length;
      assert.equal(await marks(), 0);
      await database.write.insertInto("marks").values({ name: "x", value: "y" }).execute();
      assert.equal(await marks(), 0);
    });
    assert.equal((await database.read.selectFrom("marks").selectAll().execute()).length, 1);
  });

  test("that write take turns: one waits for the other without stopping it", async () => {
    const { database } = await open();
    const order: string[] = [];
    const turn = async (connection: "write" | "durable", name: string) =>
      database[connection].transaction().execute(async (tx) => {
        order.push(`${name} begins`);
        await tx.insertInto("marks").values({ name, value: "" }).execute();
        for (let i = 0; i < 5; i++) await setImmediate();
        order.push(`${name} ends`);
      });
    await Promise.all([turn("write", "a"), turn("durable", "b"), turn("write", "c")]);
    assert.equal(order.length, 6);
    for (const [i, event] of order.entries())
      if (event.endsWith("begins")) assert.equal(order[i + 1], event.replace("begins", "ends"));
  });

  test("wait for another process that writes, and this process continues meanwhile", async () => {
    const { database, dataDir } = await open();
    const script = `const { DatabaseSync } = require("node:sqlite");
      const database = new DatabaseSync(process.argv[1]);
      database.exec("begin immediate");
      process.stdout.write("writing");
      process.stdin.once("data", () => { database.exec("commit"); database.close(); process.exit(); });`;
    const other = spawn(process.execPath, ["-e", script, join(dataDir, "sidereal.db")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(other.stdout, "data");
    let isDone = false;
    const written = database.durable
      .transaction()
      .execute((tx) => tx.insertInto("marks").values({ name: "x", value: "y" }).execute())
      .then(() => {
        isDone = true;
      });
    for (let i = 0; i < 20; i++) await setImmediate();
    assert.equal(isDone, false);
    other.stdin.write("end");
    await written;
    assert.equal((await database.read.selectFrom("marks").selectAll().execute()).length, 1);
  });

  test("return rows as plain objects, under the names that columns have after changes of this connection", async () => {
    const { database } = await open();
    const { read, write } = database;
    const all = sql<Record<string, unknown>>`select * from things`;
    const change = (text: string) => sql`${sql.raw(text)}`.execute(write);
    const rows = async (db: typeof read) => (await all.execute(db)).rows;
    await change("create table things (a integer, b text)");
    await change("insert into things values (1, null)");
    assert.deepEqual(await rows(write), [{ a: 1, b: null }]);
    assert.deepEqual(await rows(read), [{ a: 1, b: null }]);
    await change("alter table things rename column b to c");
    assert.deepEqual(await rows(write), [{ a: 1, c: null }]);
    await change("alter table things add column d integer default 2");
    assert.deepEqual(await rows(write), [{ a: 1, c: null, d: 2 }]);
    const added =
      await sql`insert into things values (3, 'x', 4) returning a, a + 1 as "two words", c`.execute(write);
    assert.deepEqual(added.rows, [{ a: 3, "two words": 4, c: "x" }]);
  });

  test("lie in a folder that is made, for nobody else to read", async () => {
    const dataDir = join(folder, "made", "when", "absent");
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
    await database.close();
    assert.equal(statSync(dataDir).mode & 0o077, 0);
  });
});

onBothEngines("Migrations", (engine) => {
  const versions = async ({ read }: Database) =>
    (await read.selectFrom("schema_version").selectAll().orderBy("version").execute()).map(
      ({ version, name }) => `${version} ${name}`,
    );

  test("are applied once, however often a database is opened and by however many at once", async () => {
    const database = await engine.open();
    const before = await versions(database);
    assert.ok(before.length > 0);
    const opened = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ ...engine.location(), pool: 2, log })),
    );
    assert.deepEqual(await versions(database), before);
    await Promise.all(opened.map((each) => each.close()));
  });

  test("of a newer program are refused with a message for the operator", async () => {
    const database = await engine.open();
    const known = LATEST_VERSION;
    await database.durable
      .insertInto("schema_version")
      .values({ version: known + 1, name: "of tomorrow", applied_at: 0 })
      .execute();
    await assert.rejects(openDatabase({ ...engine.location(), pool: 2, log }), {
      message: `The database is at version ${known + 1}, made by a newer Sidereal; this one knows ${known}. Update the program, or restore a backup.`,
    });
    assert.equal((await versions(database)).length, LATEST_VERSION - FIRST_VERSION + 2);
  });
});

describe("A database that cannot be opened", () => {
  test("is an error at once: a folder that is a file, a server that is not there", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    await assert.rejects(openDatabase({ url: undefined, dataDir: file, pool: 1, log }));
    await assert.rejects(
      openDatabase({ url: "postgres://nobody@127.0.0.1:1/none", dataDir: "", pool: 1, log }),
      /ECONNREFUSED/,
    );
  });
});
