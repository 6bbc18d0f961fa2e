import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { type KeyedRequest, Usage } from "../../src/accounts/usage.js";
import { pruneUsage } from "../../src/accounts/usage-rows.js";
import { USAGE_WINDOWS } from "../../src/accounts/usage-view.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { expectedView, type Sent } from "../support/usage.js";
import { NOW } from "../support/world.js";

const silent = createLog("silent");

/** A request, unless something else is said. */
function request(keyId: number, more: Partial<KeyedRequest> = {}): KeyedRequest {
  return {
    keyId,
    method: "GET",
    route: "/api/repos",
    status: 200,
    bytes: 100,
    durationMs: 1.5,
    allowance: { bucket: "default", limit: 1_200, remaining: 1_199 },
    code: null,
    path: "/api/repos?q=x",
    source: { address: "192.0.2.17", agent: "curl" },
    ...more,
  };
}

/** What a request is in an expectation. */
function sentAt(at: number, request: KeyedRequest): Sent {
  const { method, route, status, bytes, durationMs, code, allowance } = request;
  const micros = Math.round(durationMs * 1_000);
  const path = "/api/repos";
  const caller = { address: "192.0.2.17", family: "curl" };
  return { at, method, route, status, bytes, micros, code, path, allowance, ...caller };
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await setImmediate();
}

onSqliteAndLong("Usage", (engine) => {
  /** An account with keys, in a fresh database. */
  const open = async (count = 1) => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const accountId = await addAccount(database, "ann@example.org");
    const context = accountsContext(database, clock);
    const keys = new ApiKeys(context);
    const ids: number[] = [];
    for (let i = 0; i < count; i++) ids.push((await keys.create(accountId, `key ${i}`)).key.id);
    const [keyId = 0] = ids;
    return { database, clock, accountId, ids, keyId, usage: new Usage(context) };
  };
  /** The same with more keys than an account may make. */
  const openMany = async (count: number) => {
    const world = await open();
    const { database, accountId: account_id } = world;
    const row = { account_id, name: "one of many", hint: "sid_", created_at: NOW };
    const rows = Array.from({ length: count }, (_, i) => ({ ...row, hash: `hash ${i}` }));
    const made = await database.durable.insertInto("api_keys").values(rows).returning("id").execute();
    return { ...world, ids: made.map(({ id }) => id) };
  };
  const stored = async (database: Database, table: "usage_routes" | "usage_callers" | "usage_events") => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(
      database.read,
    );
    return rows[0]?.n;
  };

  /** Each run deletes the oldest part. */
  const prune = async (database: Database) => {
    for (let removed = 1; removed > 0; )
      removed = await pruneUsage(database, NOW, new AbortController().signal);
  };

  test("of a hundred days shows in each period exactly what falls into it", async () => {
    const { clock, accountId, keyId, usage } = await open();
    const sent: Sent[] = [];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const routes = Array.from({ length: 25 }, (_, i) => `/api/${String.fromCharCode(97 + i)}`);
    const statuses = [200, 200, 200, 304, 400, 404, 429, 500];
    const buckets = ["default", "search", "heavy"];
    clock.set(NOW - 100 * DAY_MS);
    while (clock.now() < NOW) {
      const status = statuses[random(statuses.length)] ?? 200;
      const route = routes[random(random(routes.length) + 1)];
      const one = request(keyId, {
        ...(route === undefined ? { method: null, route: "other" } : { route }),
        status,
        bytes: random(10_000),
        durationMs: random(100_000) / 1_000,
        code: status >= 400 ? `CODE_${status}` : null,
        allowance: { bucket: buckets[random(3)] ?? "", limit: 600 + random(2), remaining: random(500) },
      });
      usage.record(one);
      sent.push(sentAt(clock.now(), one));
      // Now and then, and before there are more hours than it would keep.
      if (random(20) === 0 || sent.length % 40 === 0) assert.equal(await usage.flush(), true);
      // More and more of them: hours apart at first, seconds at the end.
      clock.set(clock.now() + 1_000 + random(Math.max(60_000, (NOW - clock.now()) / 25)));
    }
    clock.set(NOW);
    assert.ok(sent.length > 300, `only ${sent.length} were sent`);
    const requests = new Set<number>();
    for (const period of USAGE_WINDOWS) {
      const view = await usage.view(accountId, keyId, period);
      assert.deepEqual(view, expectedView(keyId, sent, period, NOW));
      requests.add(view.totals.requests);
    }
    assert.equal(requests.size, 4);
  });

  test("is deleted after 90 days, addresses after 30", async () => {
    const { database, clock, ids, usage } = await open(5);
    const days = [0, 2, 30, 31, 90, 91, 200];
    for (const ago of days.toReversed()) {
      clock.set(NOW - ago * DAY_MS);
      for (const id of ids) usage.record(request(id, { status: 404, code: "NOT_FOUND" }));
      await usage.flush();
    }
    await prune(database);
    const kept = async (table: "usage_routes" | "usage_allowances" | "usage_callers", kind?: string) => {
      const { rows } = await sql<{ from_at: number }>`select distinct from_at from ${sql.table(table)}
        where ${kind === undefined ? sql`1 = 1` : sql`kind = ${kind}`} order by from_at desc`.execute(
        database.read,
      );
      return rows.map(({ from_at }) => Math.floor(NOW / DAY_MS) - Math.floor(from_at / DAY_MS));
    };
    for (const kind of ["routes", "allowances"] as const)
      assert.deepEqual(await kept(`usage_${kind}`), [0, 2, 30, 31, 90], kind);
    assert.deepEqual(await kept("usage_callers", "agent"), [0, 2, 30, 31, 90]);
    assert.deepEqual(await kept("usage_callers", "address"), [0, 2, 30]);
    assert.equal(await stored(database, "usage_events"), 5 * ids.length);
  });

  test("of two processes adds up, also if both write at the same time", async () => {
    const { database, clock, accountId, ids } = await open(4);
    const others = await openDatabase({ ...engine.location(), pool: 2, log: silent });
    const processes = [database, others].map((one) => new Usage(accountsContext(one, clock)));
    const sent = new Map<number, Sent[]>(ids.map((id) => [id, []]));
    for (let turn = 0; turn < 20; turn++) {
      for (const [i, usage] of processes.entries()) {
        // In opposite order, as that is where processes could wait for each other for ever.
        for (const id of i === 0 ? ids : ids.toReversed()) {
          clock.advance(1_000);
          const remaining = 1_000 - ((turn * 7 + i * 3) % 11);
          const one = request(id, { allowance: { bucket: "default", limit: 1_200, remaining } });
          usage.record(one);
          sent.get(id)?.push(sentAt(clock.now(), one));
        }
      }
      assert.deepEqual(await Promise.all(processes.map((usage) => usage.flush())), [true, true]);
    }
    for (const id of ids) {
      const view = await processes[0]?.view(accountId, id, "24h");
      assert.deepEqual(view, expectedView(id, sent.get(id) ?? [], "24h", clock.now()));
    }
    await others.close();
  });

  test("that cannot be written fails no request, is said once, and is there when it can", async () => {
    const { database, clock, accountId, keyId } = await open();
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
    const usage = new Usage(accountsContext(database, clock, { log }));
    const sent: Sent[] = [];
    const send = () => {
      for (const status of [200, 404, 429]) {
        clock.advance(1_000);
        const one = request(keyId, { status, code: status === 200 ? null : `CODE_${status}` });
        usage.record(one);
        sent.push(sentAt(clock.now(), one));
      }
    };
    send();
    assert.equal(await usage.flush(), true);
    const whileItWorked = sent.length;
    // The last table of the transaction: what went into those before it must not stay.
    await sql`alter table usage_callers rename to taken_away`.execute(database.write);
    await sql`create view usage_callers as select distinct * from taken_away`.execute(database.write);
    for (let i = 0; i < 3; i++) {
      send();
      assert.equal(await usage.flush(), false);
    }
    const shown = await usage.view(accountId, keyId, "24h");
    assert.deepEqual(shown, expectedView(keyId, sent.slice(0, whileItWorked), "24h", clock.now()));
    await sql`drop view usage_callers`.execute(database.write);
    await sql`alter table taken_away rename to usage_callers`.execute(database.write);
    send();
    const view = await usage.view(accountId, keyId, "24h");
    assert.deepEqual(view, expectedView(keyId, sent, "24h", clock.now()));
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ["usage cannot be written; it is kept and retried", "usage is written again"],
    );
  });

  test("of many keys is written in parts; what fails between them is neither lost nor doubled", async () => {
    const { database, accountId, ids, usage } = await openMany(500);
    const record = () => {
      for (const id of ids) usage.record(request(id, { status: 404, code: "NOT_FOUND" }));
    };
    record();
    assert.equal(await usage.flush(), true);
    record();
    const before = await stored(database, "usage_events");
    const broken = usage.flush();
    while ((await stored(database, "usage_events")) === before) await setImmediate();
    // Comes between two parts.
    await sql`alter table usage_callers rename to taken_away`.execute(database.write);
    record();
    assert.equal(await broken, false);
    await sql`alter table taken_away rename to usage_callers`.execute(database.write);
    assert.equal(await usage.flush(), true);
    for (const id of ids) {
      const { totals, recentErrors } = await usage.view(accountId, id, "24h");
      assert.deepEqual([totals.requests, totals.errors, recentErrors.length], [3, 3, 3]);
    }
  });

  test("is written every five seconds, and what is left when it stops", async () => {
    const { database, clock, keyId, usage } = await open();
    usage.start();
    await until(() => clock.sleeping === 1);
    usage.record(request(keyId));
    clock.advance(4_999);
    await setImmediate();
    assert.equal(await stored(database, "usage_routes"), 0);
    clock.advance(1);
    await until(() => clock.sleeping === 1);
    assert.equal(await stored(database, "usage_routes"), 1);
    usage.record(request(keyId, { status: 404 }));
    await usage.stop();
    assert.equal(clock.sleeping, 0);
    assert.equal(await stored(database, "usage_routes"), 2);
  });

  test("of keys that are gone is passed over, that of others is not", async () => {
    const { database, accountId, keyId, usage } = await open();
    usage.record(request(keyId + 1_000, { status: 500 }));
    usage.record(request(keyId));
    assert.equal(await usage.flush(), true);
    assert.equal((await usage.view(accountId, keyId, "24h")).totals.requests, 1);
    assert.equal(await stored(database, "usage_events"), 0);
  });

  test("of a flood of addresses and programs takes bounded room, and its totals are exact", async () => {
    const { database, clock, accountId, keyId, usage } = await open();
    const requests = 200_000;
    for (let i = 0; i < requests; i++) {
      clock.advance(1);
      const source = { address: `192.0.2.${i}`, agent: i % 3 === 0 ? "Other" : `tool-${i}` };
      usage.record(
        request(keyId, { method: null, route: "other", status: 404, code: "NOT_FOUND", source, bytes: i }),
      );
      if (i === requests / 2) await usage.flush();
    }
    const view = await usage.view(accountId, keyId, "24h");
    const bytes = (requests * (requests - 1)) / 2;
    const totals = {
      requests,
      errors: requests,
      blocked: 0,
      bytes,
      addressCount: 100,
      addressCountIsExact: false,
    };
    assert.deepEqual(view.totals, totals);
    const [shown, families] = [view.addresses, view.agents].map((list) =>
      list.reduce((sum, one) => sum + one.requests, 0),
    );
    assert.deepEqual([families, view.agents.length], [requests, 21]);
    assert.ok((shown ?? 0) <= requests);
    assert.ok(view.addresses.some(({ address, requests: n }) => address === "other" && n > requests / 2));
    // 100 addresses and other, 20 families and Other.
    assert.equal(await stored(database, "usage_callers"), 101 + 21);
    assert.equal(await stored(database, "usage_events"), 25);
    assert.deepEqual((await usage.view(accountId, keyId, "90d")).totals, totals);
  });

  test("errors and refusals are kept apart, the last 25 of each", async () => {
    const { clock, accountId, keyId, usage } = await open();
    const sent: Sent[] = [];
    const send = (status: number) => {
      clock.advance(1_000);
      const one = request(keyId, { status, code: `CODE_${status}` });
      usage.record(one);
      sent.push(sentAt(clock.now(), one));
    };
    for (let i = 0; i < 30; i++) send(404);
    await usage.flush();
    for (let i = 0; i < 500; i++) send(429);
    await usage.flush();
    send(400);
    const view = await usage.view(accountId, keyId, "24h");
    assert.deepEqual(view, expectedView(keyId, sent, "24h", clock.now()));
    assert.deepEqual([view.recentErrors.length, view.recentBlocks.length], [25, 25]);
  });

  test("a view does not wait for long for a database that is busy", async () => {
    const { database, clock, accountId, keyId, usage } = await open();
    usage.record(request(keyId));
    const release = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    const busy = database.write.transaction().execute(async (tx) => {
      await sql`update api_keys set name = 'held'`.execute(tx);
      taken.resolve();
      await release.promise;
    });
    await taken.promise;
    const asked = usage.view(accountId, keyId, "24h");
    await until(() => clock.sleeping === 1);
    clock.advance(1_000);
    assert.equal((await asked).totals.requests, 0);
    release.resolve();
    await busy;
    assert.equal((await usage.view(accountId, keyId, "24h")).totals.requests, 1);
  });
});
