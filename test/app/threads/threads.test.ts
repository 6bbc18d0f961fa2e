import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { ApiKeys } from "../../../src/accounts/api-keys.js";
import { Revocations } from "../../../src/accounts/ttl-cache.js";
import { startThreads, type Threads } from "../../../src/app/threads/threads.js";
import { loadConfig } from "../../../src/config/config.js";
import { openDatabase } from "../../../src/database/database.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { AppContext } from "../../../src/modules.js";
import { addAccount } from "../../support/accounts.js";
import { CommandWorld } from "../../support/command.js";
import { type Engine, onBothEngines, onSqlite } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";
import { beforeRefill } from "../../support/refill.js";
import { GENEROUS, NOW } from "../../support/world.js";

const LIMIT = 5;

async function contextOf(engine: Engine, env: Record<string, string> = {}): Promise<AppContext> {
  await engine.open();
  const { url, dataDir } = engine.location();
  const config = loadConfig({
    ...(url === undefined ? { SIDEREAL_DATA_DIR: dataDir } : { SIDEREAL_DATABASE_URL: url }),
    SIDEREAL_PORT: "0",
    SIDEREAL_HTTP_THREADS: "2",
    // It is built in a thread of its own.
    SIDEREAL_LIST_INDEX_MB: "0",
    SIDEREAL_LOG_LEVEL: "silent",
    ...GENEROUS,
    ...env,
  });
  return { config, clock: systemClock, log: createLog("silent") };
}

/** The status of an answer that came over a connection of its own, so that any thread may be asked. */
async function ask(port: number, path: string, headers: Record<string, string> = {}): Promise<number> {
  const request = get({ port, host: "127.0.0.1", path, headers, agent: new Agent() });
  const [response] = await once(request, "response");
  response.resume();
  return response.statusCode;
}

/** How many sockets listen on a port; undefined where the system does not tell. */
function listening(port: number): number | undefined {
  if (!existsSync("/proc/net/tcp")) return undefined;
  const wanted = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local === wanted && state === "0A").length;
}

onBothEngines("Threads", (engine) => {
  const start = async (t: TestContext, context: AppContext): Promise<Threads> => {
    const threads = await startThreads(context);
    t.after(() => threads.stop());
    return threads;
  };

  test("two threads at one port let exactly the limit pass", async (t) => {
    const context = await contextOf(engine, {
      SIDEREAL_LIMIT_DEFAULT_ANONYMOUS: String(LIMIT),
      SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
    });
    const { port, url } = await start(t, context);
    assert.equal(url, `http://127.0.0.1:${port}`);
    assert.ok([2, undefined].includes(listening(port)));
    let callers = 0;
    await beforeRefill(async () => {
      const caller = { "X-Forwarded-For": `198.18.1.${++callers}` };
      const asking = Array.from({ length: 60 }, () => ask(port, "/api/stats/summary", caller));
      const statuses = await Promise.all(asking);
      assert.equal(statuses.filter((status) => status === 200).length, LIMIT);
      assert.equal(statuses.filter((status) => status === 429).length, 60 - LIMIT);
    });
  });

  test("a key that is revoked in one thread is refused by all", async (t) => {
    const context = await contextOf(engine);
    const { url, dataDir } = engine.location();

    const database = await openDatabase({ url, dataDir, pool: 2, log: context.log });
    const { port, shared } = await start(t, context);
    const revocations = new Revocations(shared.revocations);
    const keys = new ApiKeys({ database, clock: systemClock, log: createLog("silent"), revocations });
    const account = await addAccount(database, "threads@example.org");
    const { key, secret } = await keys.create(account, "laptop");
    const askAll = () =>
      Promise.all(Array.from({ length: 20 }, () => ask(port, "/api/stats/summary", { "X-API-Key": secret })));
    assert.deepEqual(new Set(await askAll()), new Set([200]));
    await keys.revoke(account, key.id);
    assert.deepEqual(new Set(await askAll()), new Set([401]));
    await database.close();
  });
});

onSqlite("Threads that cannot go on", (engine) => {
  test("a thread that ends by itself is replaced, and the others go on", async () => {
    const clock = new ManualClock(NOW);
    const workers: Worker[] = [];
    const note = (worker: Worker) => void workers.push(worker);
    process.on("worker", note);
    const threads = await startThreads({ ...(await contextOf(engine)), clock });
    assert.equal(workers.length, 1);
    await workers[0]?.terminate();
    assert.equal(await ask(threads.port, "/healthz"), 200);
    const started = once(process, "worker");
    clock.advance(1_000);
    await started;
    const [, replacement] = workers;
    assert.ok(replacement);
    await once(replacement, "message");
    assert.ok([2, undefined].includes(listening(threads.port)));
    process.off("worker", note);
    await threads.stop();
    assert.deepEqual(
      workers.map(({ threadId }) => threadId),
      [-1, -1],
    );
    await assert.rejects(ask(threads.port, "/healthz"), /ECONNREFUSED/);
  });

  test("a port that is taken is refused, as with one thread", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    assert.ok(typeof address === "object" && address !== null);
    const context = await contextOf(engine, { SIDEREAL_PORT: String(address.port) });
    await assert.rejects(startThreads(context), /EADDRINUSE/);
    other.close();
  });
});

onSqlite("A thread that fails to start", (engine) => {
  test("it stops the others without draining, as nobody was told of them", { timeout: 60_000 }, async () => {
    const { config, log } = await contextOf(engine, { SIDEREAL_DRAIN_SECONDS: "300" });
    // Only the further threads make a log of their own.
    const broken = { ...config, ...JSON.parse('{ "logLevel": "unknown" }') };
    await assert.rejects(startThreads({ config: broken, clock: new ManualClock(NOW), log }), /level/);
  });
});

test("a service in threads answers, and ends well when it is asked to", async () => {
  const world = new CommandWorld();
  const running = world.start(world.newDataDir(), ["serve"], {
    SIDEREAL_PORT: "0",
    SIDEREAL_HTTP_THREADS: "2",
  });
  const { stdout } = running.process;
  assert.ok(stdout);
  const [line] = await once(stdout, "data");
  const url = /listens at (\S+)/.exec(String(line))?.[1] ?? "";
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(`${url}/api/stats/summary`)));
  for (const { status } of answers) assert.equal(status, 200);
  running.process.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  assert.deepEqual([code, stderr], [0, ""]);
});

test("all threads read the same clock", async () => {
  const clock = new URL("../../../src/lib/clock.js", import.meta.url).href;
  const code = `import(${JSON.stringify(clock)}).then(({ systemClock }) =>
    require("node:worker_threads").parentPort.postMessage(systemClock.monotonic()))`;
  const before = systemClock.monotonic();
  const [there] = await once(new Worker(code, { eval: true }), "message");
  assert.ok(there > before && there < systemClock.monotonic());
});
