import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { after, test } from "node:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../src/database/database.js";
import type { Db } from "../../src/database/dialect.js";
import { databaseFault } from "../../src/database/fault.js";
import { openSqlite } from "../../src/database/sqlite.js";
import { WriteQueue } from "../../src/database/sqlite-writer.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { temporaryFolder } from "../support/imports.js";

async function open(): Promise<{ database: Database; dataDir: string; logSize: () => number }> {
  const dataDir = temporaryFolder();
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  after(() => database.close());
  return { database, dataDir, logSize: () => statSync(join(dataDir, "sidereal.db-wal")).size };
}

/** Adds two rows in one transaction. Returns the kind of the fault. */
const addTwo = (db: Db, name: string) =>
  db
    .transaction()
    .execute(async (tx) => {
      for (const half of ["first", "second"])
        await tx
          .insertInto("marks")
          .values({ name: `${name} ${half}`, value: "x".repeat(50_000) })
          .execute();
    })
    .then(
      () => "saved",
      (error: unknown) => databaseFault(error) ?? String(error),
    );
const addOne = (db: Db, name: string) =>
  db
    .insertInto("marks")
    .values({ name, value: "" })
    .execute()
    .then(
      () => "saved",
      (error: unknown) => databaseFault(error) ?? String(error),
    );
const namesIn = async ({ read }: Database) =>
  (await read.selectFrom("marks").select("name").orderBy("name").execute()).map(({ name }) => name);

/** Lets the next statement with this text fail, once. */
function failOnce(text: string, kind: DiskError): () => void {
  let left = 1;
  const restore = failStatements((statement) => (statement === text && left-- > 0 ? kind : undefined));
  after(restore);
  return restore;
}

test("a transaction that the disk has no room for is a fault, saves nothing, and is possible later", async () => {
  const { database } = await open();
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.durable);
  const limit = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`;
  await limit((rows[0]?.page_count ?? 0) + 2).execute(database.durable);
  // SQLite rolls it back by itself, so that there is nothing to roll back any more.
  for (const name of ["a", "b"]) assert.equal(await addTwo(database.durable, name), "full");
  assert.deepEqual(await namesIn(database), []);
  await limit(1_000_000).execute(database.durable);
  assert.equal(await addTwo(database.durable, "c"), "saved");
  assert.deepEqual(await namesIn(database), ["c first", "c second"]);
});

test("after a failed fsync nothing is saved until what was committed before has been stored elsewhere", async () => {
  const { database, logSize } = await open();
  assert.equal(await addTwo(database.write, "before"), "saved");
  let restore = failOnce("commit", "fsync");
  assert.equal(await addTwo(database.durable, "lost"), "unavailable");
  restore();
  // The connection that failed is not the only one that may not go on, and single statements may not either.
  restore = failStatements((text) => (text.includes("wal_checkpoint") ? "write" : undefined));
  assert.equal(await addTwo(database.write, "refused"), "unavailable");
  assert.equal(await addOne(database.durable, "refused"), "unavailable");
  assert.deepEqual(await namesIn(database), ["before first", "before second"]);
  restore();
  let checkpoints = 0;
  restore = failStatements((text) => {
    checkpoints += Number(text.includes("wal_checkpoint"));
    return undefined;
  });
  const size = logSize();
  assert.equal(await addOne(database.durable, "later"), "saved");
  assert.equal(await addTwo(database.write, "later"), "saved");
  restore();
  assert.equal(checkpoints, 1);
  assert.ok(logSize() < size, "the log has begun again");
  assert.deepEqual(await namesIn(database), [
    "before first",
    "before second",
    "later",
    "later first",
    "later second",
  ]);
});

test("any other error of the disk is a fault of its statement alone", async () => {
  const { database } = await open();
  const restore = failOnce("commit", "write");
  assert.equal(await addTwo(database.durable, "lost"), "unavailable");
  restore();
  const watching = failStatements((text) => {
    assert.ok(!text.includes("wal_checkpoint"));
    return undefined;
  });
  assert.equal(await addTwo(database.durable, "saved"), "saved");
  watching();
  assert.deepEqual(await namesIn(database), ["saved first", "saved second"]);
});

test("a file that can only be opened for reading is refused at the start", async () => {
  const { dataDir } = await open();
  const address = `file:${join(dataDir, "sidereal.db")}?mode=ro`;
  const writers = new WriteQueue(systemClock);
  assert.throws(
    () => openSqlite(address, { synchronous: "FULL", writers }),
    (error) => databaseFault(error) === "unavailable",
  );
  // Not one that another process writes.
  const path = join(dataDir, "sidereal.db");
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const { db } = openSqlite(path, { synchronous: "FULL", writers });
  other.close();
  assert.equal(await addOne(db, "saved"), "saved");
  await db.destroy();
});

/** Extended result codes of SQLite (sqlite.org/rescode.html), as a disk causes them. */
const DISK_ERRORS = { full: 13, read: 266, write: 778, fsync: 1034, truncate: 1546 } as const;
type DiskError = keyof typeof DISK_ERRORS;

/**
 * Lets statements of all SQLite connections of this process fail as if the disk did, before they do anything. `choose` gets the
 * text of each and returns how it fails. Returns the function that ends this.
 */
function failStatements(choose: (text: string) => DiskError | undefined): () => void {
  const { prototype } = StatementSync;
  const { run, all } = prototype;
  const failing = <F extends (...parameters: never[]) => unknown>(method: F) =>
    function (this: StatementSync, ...parameters: Parameters<F>): unknown {
      const kind = choose(this.sourceSQL);
      if (kind === undefined) return method.apply(this, parameters);
      throw Object.assign(new Error(`disk error: ${kind}`), {
        code: "ERR_SQLITE_ERROR",
        errcode: DISK_ERRORS[kind],
      });
    };
  Object.assign(prototype, { run: failing(run), all: failing(all) });
  return () => void Object.assign(prototype, { run, all });
}
