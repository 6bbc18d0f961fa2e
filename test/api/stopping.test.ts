import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { after, before, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { Client } from "undici";
import { AccountEvents, Accounts } from "../../src/accounts/accounts.js";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { Usage } from "../../src/accounts/usage.js";
import { startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { AppError } from "../../src/lib/errors.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, type Modules, openModules } from "../../src/modules.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { ORIGIN } from "../support/members.js";
import { GENEROUS, NOW } from "../support/world.js";

onSqliteAndLong("Stopping", (engine) => {
  const sockets = new Set<Socket>();
  // Takes connections and never says a word.
  const mute = createServer((socket) => void sockets.add(socket.on("error", () => {})));
  let smtpUrl = "";
  before(async () => {
    await once(mute.listen(0, "127.0.0.1"), "listening");
    const address = mute.address();
    assert.ok(typeof address === "object" && address !== null);
    smtpUrl = `smtp://127.0.0.1:${address.port}`;
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  /** A service that has answered one request with a key, and is not done with a mail. */
  const openBusy = async (t: TestContext) => {
    // The time limits of the mail client itself never pass.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_BASE_URL: ORIGIN,
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
      SIDEREAL_SMTP_URL: smtpUrl,
      SIDEREAL_MAIL_FROM: "sidereal@example.org",
    });
    const clock = new ManualClock(NOW);
    const modules = buildModules(await engine.open(), { clock, log: createLog("silent") });
    const { database } = modules;
    const { log, lines } = recordedLog("warn");
    const { secret } = await new ApiKeys(accountsContext(database, clock)).create(
      await addAccount(database, "a@b.example"),
      "k",
    );
    const service = await startService({ config, clock, log }, modules);
    const at = `http://127.0.0.1:${service.port}`;
    const headers = { Connection: "close", "X-API-Key": secret };
    assert.equal((await fetch(`${at}/api/repos`, { headers })).status, 200);
    const asked = await fetch(`${at}/api/auth/magic-link`, {
      method: "POST",
      headers: { Connection: "close", Origin: ORIGIN, "Content-Type": "application/json" },
      body: JSON.stringify({ email: "someone@example.org" }),
    });
    assert.equal(asked.status, 202);
    const storedRows = async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from usage_routes`.execute(
        database.read,
      );
      return rows[0]?.n ?? 0;
    };
    return { service, clock, database, lines, storedRows };
  };
  const noteClosing = (t: TestContext, { database }: Modules, order: string[]) => {
    const close = database.close.bind(database);
    t.mock.method(database, "close", () => {
      order.push("the database closes");
      return close();
    });
  };
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await setImmediate();
  };

  test("a mail server that hangs does not keep usage from being written, nor the service for long", async (t) => {
    const closing = t.mock.method(Accounts.prototype, "close");
    const { service, clock, database, lines, storedRows } = await openBusy(t);
    await until(() => sockets.size > 0);
    let hasStopped = false;
    const stopping = service.stop().then(() => {
      hasStopped = true;
    });
    // Everything but the mail has ended.
    await until(() => closing.mock.callCount() === 1 && clock.sleeping === 1);
    assert.equal(await storedRows(), 1, "usage is written");
    assert.equal(hasStopped, false);
    clock.advance(5_000);
    await stopping;
    const steps = lines.filter(({ step }) => step !== undefined).map(({ msg, step }) => [msg, step]);
    assert.deepEqual(steps, [["shutdown deadline reached; exiting", "mail and notes"]]);
    await assert.rejects(database.read.selectFrom("accounts").select("id").execute(), "it is closed");
  });

  test("steps that hang end together within ten seconds", async (t) => {
    const stopUsage = Usage.prototype.stop;
    const writing = t.mock.method(Usage.prototype, "stop", async function (this: Usage) {
      await stopUsage.call(this);
      return new Promise(() => {});
    });
    const closing = t.mock.method(Accounts.prototype, "close", () => new Promise(() => {}));
    const { service, clock, lines } = await openBusy(t);
    const stopping = service.stop();
    const from = clock.monotonic();
    await until(() => writing.mock.callCount() === 1 && clock.sleeping === 1);
    clock.advance(5_000);
    await until(() => closing.mock.callCount() === 1 && clock.sleeping === 1);
    clock.advance(clock.untilNextWake ?? 0);
    await stopping;
    const steps = lines.filter(({ step }) => step !== undefined).map(({ step }) => step);
    assert.deepEqual(steps, ["usage", "mail and notes"]);
    assert.equal(clock.monotonic() - from, 8_500);
  });

  test("a step that fails does not keep the others from being done", async (t) => {
    const { service, clock, database, lines } = await openBusy(t);
    t.mock.method(AccountEvents.prototype, "close", () => Promise.reject(new Error("notes are lost")));
    let hasStopped = false;
    const stopping = service.stop().then(() => {
      hasStopped = true;
    });
    // The mail fails, so that nothing is waited for.
    await until(() => {
      for (const socket of sockets) socket.destroy();
      // The mail client may wait before it takes the end of a connection for a failure.
      t.mock.timers.tick(1_000);
      return hasStopped;
    });
    await stopping;
    const said = lines.map(({ msg, step }) => [msg, step]);
    assert.ok(said.some(([msg, step]) => msg === "a shutdown step failed" && step === "mail and notes"));
    assert.equal(clock.sleeping, 0);
    await assert.rejects(database.read.selectFrom("accounts").select("id").execute(), "it is closed");
  });

  test("what was begun for a caller that has gone ends before the database closes", async (t) => {
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
    });
    const clock = new ManualClock(NOW);
    const { log, lines } = recordedLog("warn");
    const modules = buildModules(await engine.open(), { clock, log });
    const order: string[] = [];
    const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    t.mock.method(modules.catalog, "get", async () => {
      begun.resolve();
      await going.promise;
      await sql`select 1`.execute(modules.database.read);
      order.push("computed");
      throw new AppError("NOT_FOUND", "There is no such repository.");
    });
    const closing = t.mock.method(Accounts.prototype, "close");
    noteClosing(t, modules, order);
    const service = await startService({ config, clock, log }, modules);
    const client = connect(service.port, "127.0.0.1");
    client.write("GET /api/repos/1/ranks HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await begun.promise;
    client.resetAndDestroy();
    const stopping = service.stop();
    // The steps that need no response go on meanwhile.
    await until(() => closing.mock.callCount() === 1);
    going.resolve();
    await stopping;
    assert.deepEqual(order, ["computed", "the database closes"]);
    assert.deepEqual(lines, []);
  });

  test("a refresh that still waits for its turn ends before the database closes", async (t) => {
    const config = loadConfig({ ...GENEROUS, SIDEREAL_PORT: "0", SIDEREAL_AUTH_SECRET: "s".repeat(40) });
    const clock = new ManualClock(NOW);
    const { log, lines } = recordedLog("error");
    const modules = buildModules(await engine.open(), { clock, log });
    Object.defineProperty(modules.database, "maxReaders", { value: 1 });
    const service = await startService({ config, clock, log }, modules);
    const list = async () => {
      const headers = { Connection: "close" };
      await (await fetch(`http://127.0.0.1:${service.port}/api/repos`, { headers })).text();
    };
    await list();
    const order: string[] = [];
    const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    t.mock.method(modules.catalog, "get", async () => {
      begun.resolve();
      await going.promise;
      throw new AppError("NOT_FOUND", "There is no such repository.");
    });
    const readList = modules.lists.read.bind(modules.lists);
    t.mock.method(modules.lists, "read", async (...given: Parameters<typeof readList>) => {
      for (let i = 0; i < 20; i++) await setImmediate();
      const found = await readList(...given);
      order.push("refreshed");
      return found;
    });
    t.mock.method(modules.catalog, "revision", async () => "another");
    noteClosing(t, modules, order);
    const client = connect(service.port, "127.0.0.1");
    client.write("GET /api/repos/1/ranks HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await begun.promise;
    clock.advance(1_000);
    // The first one reads the revision, the second one has the list computed again.
    for (let i = 0; i < 2; i++) await list();
    client.resetAndDestroy();
    const closing = t.mock.method(Accounts.prototype, "close");
    const stopping = service.stop();
    await until(() => closing.mock.callCount() === 1);
    going.resolve();
    await stopping;
    assert.deepEqual(order, ["refreshed", "the database closes"]);
    assert.deepEqual(lines, []);
  });

  test("a service that drains says so to balancers, and responds until the time is over", async () => {
    const config = loadConfig({ ...GENEROUS, SIDEREAL_PORT: "0", SIDEREAL_DRAIN_SECONDS: "20" });
    const clock = new ManualClock(NOW);
    const log = createLog("silent");
    await engine.open();
    const { url: databaseUrl, dataDir } = engine.location();
    const context = { config: { ...config, databaseUrl, dataDir }, clock, log };
    const service = await startService(context, await openModules(context));
    const statusOf = async (path: string) =>
      (await fetch(`${service.url}${path}`, { headers: { Connection: "close" } })).status;
    assert.equal(await statusOf("/readyz"), 200);
    const stopping = service.stop();
    const balancer = new Client(service.url);
    for (let i = 0; i < 3; i++) {
      // The next one comes over the same connection, and is read although no time passes.
      const { statusCode, body } = await balancer.request({ method: "GET", path: "/readyz" });
      await body.dump();
      assert.equal(statusCode, 503);
    }
    await balancer.close();
    assert.deepEqual(
      [await statusOf("/readyz"), await statusOf("/healthz"), await statusOf("/api/repos")],
      [503, 200, 200],
    );
    clock.advance(19_999);
    assert.deepEqual([await statusOf("/readyz"), await statusOf("/")], [503, 200]);
    clock.advance(1);
    await stopping;
    await assert.rejects(statusOf("/readyz"));
  });
});
