import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ListStream } from "../../src/api/list-stream.js";
import { ListStreamer } from "../../src/api/list-streamer.js";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, type Modules, updateDerived } from "../../src/modules.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { createWorld, NOW, observation, snapshot } from "../support/world.js";

const REPOSITORIES = 250;
const LIST = {
  spec: { scope: { kind: "all" }, filters: {}, sort: "stars", direction: "desc", window: "24h" },
  format: "ndjson",
  now: NOW,
} as const;

const rows = Array.from({ length: REPOSITORIES }, (_, i) => observation(`a/r${i}`, [snapshot(0, i)]));

async function countRows(stream: ListStream): Promise<number> {
  await stream.begin();
  let lines = 0;
  for (;;) {
    const part = await stream.next();
    if (part === undefined) break;
    lines += Buffer.from(part.bytes).toString().split("\n").length - 1;
  }
  stream.close();
  return lines;
}

onBothEngines("The thread that makes streams", (engine) => {
  let modules: Modules;
  let clock: ManualClock;
  let streamer: ListStreamer;
  let started: Worker[];

  before(async () => {
    const world = await createWorld(engine);
    await world.record(...rows);
    ({ modules } = world);
  });
  beforeEach(async (t) => {
    clock = new ManualClock(NOW);
    streamer = new ListStreamer({ modules, config: { logLevel: "silent" }, clock });
    started = [];
    const post = Worker.prototype.postMessage;
    if (!("mock" in t)) return;
    t.mock.method(Worker.prototype, "postMessage", function (this: Worker, ...args: Parameters<typeof post>) {
      if (!started.includes(this)) started.push(this);
      return post.apply(this, args);
    });
  });

  test("makes several at the same time", async () => {
    const streams = Array.from({ length: 4 }, () => streamer.open(LIST));
    assert.deepEqual(await Promise.all(streams.map(countRows)), Array(4).fill(REPOSITORIES));
    assert.equal(started.length, 1);
    await streamer.stop();
  });

  test("fails them all when it ends, and the next stream starts another", async () => {
    const first = streamer.open(LIST);
    await first.begin();
    const [worker] = started;
    assert.ok(worker);
    await worker.terminate();
    await assert.rejects(async () => {
      while ((await first.next()) !== undefined);
    }, /the thread of streamed lists has ended/);
    first.close();
    const late = streamer.open(LIST);
    assert.equal(await countRows(late), REPOSITORIES);
    assert.equal(started.length, 2);
    await streamer.stop();
  });

  test("ends half a minute after the last stream", async () => {
    assert.equal(await countRows(streamer.open(LIST)), REPOSITORIES);
    const [worker] = started;
    assert.ok(worker);
    let hasExited = false;
    worker.once("exit", () => {
      hasExited = true;
    });
    clock.advance(29_000);
    assert.equal(await countRows(streamer.open(LIST)), REPOSITORIES);
    assert.equal(started.length, 1, "it is used again");
    clock.advance(29_000);
    assert.equal(clock.sleeping, 1);
    clock.advance(1_000);
    while (!hasExited) await setImmediate();
    assert.equal(await countRows(streamer.open(LIST)), REPOSITORIES);
    assert.equal(started.length, 2);
    await streamer.stop();
  });

  test("refuses streams when it stops, and waits a moment for those that are open", async () => {
    const stream = streamer.open(LIST);
    await stream.begin();
    const stopping = streamer.stop();
    assert.throws(() => streamer.open(LIST), /stopping/);
    clock.advance(1_499);
    assert.equal(stream.signal.aborted, false);
    clock.advance(1);
    await stopping;
    await assert.rejects(() => stream.next(), /stopping/);
    stream.close();
    const other = new ListStreamer({ modules, config: { logLevel: "silent" }, clock });
    const last = other.open(LIST);
    await last.begin();
    const stopped = other.stop();
    assert.equal(await countRows(last), REPOSITORIES);
    await stopped;
    assert.equal(clock.sleeping, 0, "nothing is waited for after the last");
  });
});

onSqlite("A database in memory", () => {
  test("has streams too", async () => {
    const log = createLog("silent");
    const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
    const clock = new ManualClock(NOW);
    const modules = buildModules(database, { clock, log });
    await modules.catalog.record(rows);
    await updateDerived(modules);
    const streamer = new ListStreamer({ modules, config: { logLevel: "silent" }, clock });
    assert.equal(await countRows(streamer.open(LIST)), REPOSITORIES);
    await streamer.stop();
    await database.close();
  });
});
