import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { inspectSqliteFile } from "../../src/database/inspect/sqlite-file.js";
import { temporaryFolder } from "../support/imports.js";

test("A database that another process locks is not called damaged", () => {
  const path = join(temporaryFolder(), "sidereal.db");
  const holder = new DatabaseSync(path);
  holder.exec("pragma journal_mode = wal; create table t (id integer); insert into t values (1);");
  holder.exec("pragma locking_mode = exclusive; begin exclusive;");
  const found: string[] = [];
  const inspect = () => inspectSqliteFile(path, (kind) => found.push(kind), 0);
  assert.throws(inspect, /database is locked/);
  assert.deepEqual(found, []);
  holder.exec("commit");
  holder.close();
  assert.equal(inspect(), true);
  assert.deepEqual(found, []);
});
