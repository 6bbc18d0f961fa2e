import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { openDatabase } from "../../src/database/database.js";
import { BatchSize } from "../../src/database/dialect.js";
import { createLog } from "../../src/lib/log.js";
import { temporaryFolder } from "../support/imports.js";
import { countTurns } from "../support/turns.js";

const dataDir = temporaryFolder();

/** Longer than a turn after which a connection gives way. */
const LONG_MS = 15;

test("on SQLite, a watchlist is written between the transactions of a long update by another process", async () => {
  let ms = 0;
  const open = (turnsOfSleep: number) => {
    const sleep = async () => {
      for (let turn = 0; turn < turnsOfSleep; turn++) await setImmediate();
    };
    const clock = { now: () => ms, monotonic: () => ms, sleep };
    return openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent"), clock });
  };
  // Each has its own queue, as two processes have. The one that gives way sleeps longer than the other waits between tries.
  const [updating, serving] = [await open(10), await open(1)];
  const turns = 20;
  let ended = 0;
  let written: Promise<number> | undefined;
  for (let turn = 0; turn < turns; turn++) {
    await updating.dialect.exclusively(updating.write, "catalogue", async (tx) => {
      await sql`update revision set value = value + 1`.execute(tx);
      if (written === undefined) {
        written = serving.durable
          .transaction()
          .execute((other) => sql`insert into marks (name, value) values ('written', 'true')`.execute(other))
          .then(() => ended);
        // It finds the file locked, and tries again later.
        await setImmediate();
      }
      ms += LONG_MS;
    });
    ended++;
  }
  assert.equal(await written, 1, "it was written after the first turn, not after the last");
  await updating.close();
  await serving.close();
});

test("on SQLite, writes that wait for each other leave other work a turn of the event loop each", async () => {
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  const WRITES = 20;
  const writing = Array.from({ length: WRITES }, (_, i) =>
    database.durable
      .transaction()
      .execute((tx) => sql`insert into marks (name, value) values (${`turn ${i}`}, 'true')`.execute(tx)),
  );
  assert.ok((await countTurns(Promise.all(writing))) >= WRITES - 1);
  await database.close();
});

test("batches shrink until a transaction takes as long as others may wait, and grow again", () => {
  const size = new BatchSize({ turnMs: 40 }, { least: 25, most: 5_000 });
  assert.equal(size.rows, 250);
  size.note(250, 160);
  assert.equal(size.rows, 125, "at most by half");
  size.note(125, 50);
  assert.equal(size.rows, 100);
  size.note(7, 1);
  assert.equal(size.rows, 100, "the last rows say little");
  for (let i = 0; i < 20; i++) size.note(size.rows, 1);
  assert.equal(size.rows, 5_000);
  for (let i = 0; i < 20; i++) size.note(size.rows, 100_000);
  assert.equal(size.rows, 25);
});

test("batches are as large as allowed if nobody waits", () => {
  const size = new BatchSize({ turnMs: undefined }, { least: 25, most: 5_000 });
  size.note(5_000, 60_000);
  assert.equal(size.rows, 5_000);
});
