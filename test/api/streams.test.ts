import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { type KeyedRequest, Usage } from "../../src/accounts/usage.js";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { Lists } from "../../src/discovery/lists.js";
import type { ListSpec } from "../../src/discovery/query.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { decodedText, errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { createKey, signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { createWorld, daily, GENEROUS, NOW, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("GET /api/me/export", (engine) => {
  const mailbox = openMailbox();
  const start = async () => {
    const world = await createWorld(engine, mailbox.settings);
    await world.record(observation("one/one", daily(1, 2)));
    const ann = await signIn(world, mailbox, "ann@example.org");
    return { world, ann };
  };

  test("is everything that belongs to the account, and nothing of others or secret", async () => {
    const { world, ann } = await start();
    const bob = await signIn(world, mailbox, "bob@example.org");
    await createKey(world, bob, "bob's key");
    const kept = await createKey(world, ann, "laptop");
    const revoked = await createKey(world, ann, "lost");
    await world.send("DELETE", `/api/me/keys/${revoked.id}`, undefined, ann.headers);
    await world.get("/api/repos", { "X-API-Key": kept.key });
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, ann.headers);
    await open(world, "/watchlist", ann.headers);
    await world.modules.watchlists.flush();
    const response = await world.get("/api/me/export", ann.headers);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(
      response.headers.get("content-disposition"),
      'attachment; filename="sidereal-account-2026-04-30.json"',
    );
    const { data } = response.body;
    const at = new Date(NOW).toISOString();
    assert.equal(data.exportedAt, at);
    assert.equal(data.account.email, "ann@example.org");
    assert.deepEqual(
      data.keys.map(({ name, revokedAt }: { name: string; revokedAt: string | null }) => [name, revokedAt]),
      [
        ["laptop", null],
        ["lost", at],
      ],
    );
    assert.deepEqual(
      data.usage.map(({ keyId, totals }: { keyId: string; totals: { requests: number } }) => [
        keyId,
        totals.requests,
      ]),
      [[kept.id, 1]],
    );
    const item = { repositoryId: "1", provider: "GITHUB", fullName: "one/one", addedAt: at };
    assert.deepEqual(data.watchlist, { name: "Watchlist", lastVisitAt: at, items: [item] });
    const [session] = data.sessions;
    assert.deepEqual([data.sessions.length, session.network, session.agent], [1, "192.0.2.0/24", "None"]);
    assert.deepEqual(data.passkeys, []);
    assert.deepEqual(
      data.events.map(({ event }: { event: string }) => event),
      ["key_revoked", "key_created", "key_created", "signed_in", "account_created"],
    );
    const text = JSON.stringify(data);
    const cookie = decodeURIComponent(ann.cookie.split("=")[1] ?? "");
    for (const secret of [kept.key, revoked.key, cookie.split(".")[0] ?? "", "bob"])
      assert.ok(!text.includes(secret), secret);
    assert.doesNotMatch(text, /[0-9a-f]{64}/, "no hash either");
    const [last] = (await world.get("/api/me/events", ann.headers)).body.data;
    assert.equal(last.event, "data_exported");
  });

  test("has revoked keys for 91 days, and then they are deleted", async () => {
    const { world, ann } = await start();
    await createKey(world, ann, "kept");
    const { id } = await createKey(world, ann, "lost");
    await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    const { keys } = world.members;
    world.clock.advance(91 * DAY_MS);
    assert.equal(await keys.removeRevoked(world.clock.now()), 0);
    world.clock.advance(1);
    assert.equal(await keys.removeRevoked(world.clock.now()), 1);
    const { body } = await world.get("/api/me/export", ann.headers);
    assert.deepEqual(
      body.data.keys.map(({ name }: { name: string }) => name),
      ["kept"],
    );
    assert.equal((await world.get(`/api/me/keys/${id}/usage`, ann.headers)).status, 404);
  });
});

const REPOSITORIES = 620;

onSqliteAndLong("A whole list as a stream", (engine) => {
  let world: World;
  let key: { "X-API-Key": string };
  let account: string;
  const newKey = async (name: string) => ({
    "X-API-Key": (await world.members.keys.create(account, name)).secret,
  });
  /** All pages of a list, as text. */
  const paged = async (query: string): Promise<unknown[]> => {
    const rows: unknown[] = [];
    let path = `/api/repos?limit=100&${query}`;
    for (;;) {
      const { body } = await world.get(path);
      rows.push(...body.data);
      if (body.meta.nextCursor === null) return rows;
      path = `/api/repos?limit=100&${query}&cursor=${body.meta.nextCursor}`;
    }
  };
  const streamed = async (query: string, headers: Record<string, string> = key) => {
    const response = await world.request(`/api/repos.ndjson?${query}`, { headers });
    assert.equal(response.status, 200);
    return response;
  };
  const linesOf = async (response: Response): Promise<unknown[]> => {
    const text = await decodedText(response);
    assert.ok(text === "" || text.endsWith("\n"));
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_LOG_LEVEL: "silent" });
    await world.record(
      ...Array.from({ length: REPOSITORIES }, (_, i) =>
        observation(`many/r${i}`, daily(i % 40, (i % 40) + (i % 7)), {
          facts: { language: i % 3 === 0 ? "Go" : null, description: `Number ${i}, "quoted", =1+1\u{1f980}` },
        }),
      ),
    );
    account = await addAccount(world.modules.database, "ann@example.org");
    key = await newKey("streams");
  });

  test("has the rows of all pages in their order, with all filters, sorts and a search", async () => {
    const queries = [
      "sort=stars",
      "sort=stars&order=asc",
      "sort=created",
      "",
      "sort=stars_delta&window=7d",
      "language=go&minStars=5&sort=stars",
      "q=many",
      "q=many&sort=stars&language=Go",
      "q=nothing-has-this-name",
      "minStars=1000",
    ];
    for (const query of queries) {
      const rows = await linesOf(await streamed(query));
      assert.deepEqual(rows, await paged(query), query);
    }
    assert.equal((await linesOf(await streamed("sort=stars"))).length, REPOSITORIES);
  });

  test("is a list's CSV with all its rows", async () => {
    const page = await world.get("/api/repos?sort=stars&limit=100&format=csv");
    const response = await world.request("/api/repos.csv?sort=stars", { headers: key });
    assert.equal(response.headers.get("content-type"), "text/csv; charset=utf-8");
    assert.equal(
      response.headers.get("content-disposition"),
      'attachment; filename="sidereal-repositories.csv"',
    );
    const text = await response.text();
    assert.ok(text.startsWith(page.body), "begins with the first page");
    assert.equal(text.split("\r\n").length, REPOSITORIES + 2);
    const empty = await world.request("/api/repos.csv?minStars=1000", { headers: key });
    assert.equal(await empty.text(), `${text.split("\r\n")[0]}\r\n`);
  });

  test("is compressed as the client likes, and never stored", async () => {
    const plain = await (await streamed("sort=stars")).text();
    for (const encoding of ["br", "zstd", "gzip"]) {
      const response = await streamed("sort=stars", { ...key, "Accept-Encoding": encoding });
      assert.equal(response.headers.get("content-encoding"), encoding);
      assert.equal(await decodedText(response), plain);
    }
    const { headers } = await streamed("sort=stars", { ...key, "If-None-Match": "*" });
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("etag"), null);
    assert.equal(headers.get("content-length"), null);
    assert.equal(headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  });

  test("HEAD has the same head and no body", async () => {
    const path = "/api/repos.ndjson?sort=stars";
    const got = await world.request(path, { headers: key });
    const head = await world.request(path, { method: "HEAD", headers: key });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    for (const name of ["content-type", "content-disposition", "cache-control", "vary"])
      assert.equal(head.headers.get(name), got.headers.get(name), name);
  });

  test("needs a key: nobody else gets it, and other methods and faults are as everywhere", async () => {
    const refused = await world.get("/api/repos.ndjson");
    const { message, ...error } = errorOf(refused);
    assert.deepEqual(error, { status: 401, code: "UNAUTHENTICATED" });
    assert.match(message, /API key/);
    assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="sidereal"');
    assert.equal((await world.get("/api/repos.csv", { "X-API-Key": "sid_wrong" })).status, 401);
    assert.deepEqual(
      errorOf(await world.get("/api/repos.ndjson?window=1y", key)),
      invalid("window", "must be one of 24h, 7d, 30d", { allowed: ["24h", "7d", "30d"] }),
    );
    const relevance = await world.get("/api/repos.ndjson?sort=relevance", key);
    assert.equal(relevance.status, 400);
    assert.equal((await world.send("POST", "/api/repos.ndjson", {}, key)).status, 405);
    assert.equal((await world.request("/api/repos.csv", { method: "OPTIONS" })).status, 204);
    const paging = await streamed("sort=stars&limit=5");
    assert.equal(paging.headers.get("x-ignored-parameters"), '"limit"');
    assert.equal((await linesOf(paging)).length, REPOSITORIES);
  });

  test("has each row once that does not move, whatever is recorded meanwhile, and 10,000 at most", async (t) => {
    const { read } = Lists.prototype;
    let reads = 0;
    const mock = t.mock.method(Lists.prototype, "read", async function (this: Lists, spec: ListSpec) {
      if (++reads === 2) {
        world.clock.advance(2_000);
        await world.record(
          observation("many/r0", [snapshot(1, 9_999)]),
          observation("new/high", [snapshot(1, 20_000)]),
        );
      }
      return read.call(this, spec);
    });
    const rows = (await linesOf(await streamed("sort=stars"))) as { fullName: string }[];
    assert.equal(reads, 2);
    assert.equal(new Set(rows.map(({ fullName }) => fullName)).size, rows.length);
    assert.ok(rows.length >= REPOSITORIES - 1);
    mock.mock.restore();
    const endless = t.mock.method(Lists.prototype, "read", async function (this: Lists, spec: ListSpec) {
      return read.call(this, { ...spec, page: { limit: 500, offset: 0 } });
    });
    assert.equal((await linesOf(await streamed("sort=stars"))).length, 10_000);
    assert.equal(endless.mock.callCount(), 20);
  });
});

/** Enough for a stream that no system buffers: 20 kB each. */
const LARGE = 1_000;
const DESCRIPTION = "é".repeat(10_000);
const PATH = "/api/repos.ndjson?sort=stars";
const END = "0\r\n\r\n";

/** What a client got of a stream. */
interface Got {
  text: string;
  /** The error of the connection; undefined if it was closed as usual. */
  error: Error | undefined;
}

onSqliteAndLong("A stream that ends early", (engine) => {
  let database: Database;
  let clock: ManualClock;
  let service: Service;
  let keys: ApiKeys;
  let account: string;
  let key: { id: number; secret: string };
  const recorded: KeyedRequest[] = [];

  before(async () => {
    const world = await createWorld(engine);
    ({ database } = world.modules);
    account = await addAccount(database, "ann@example.org");
    await world.record(
      ...Array.from({ length: LARGE }, (_, i) =>
        observation(`big/r${i}`, [snapshot(0, i)], { facts: { description: DESCRIPTION } }),
      ),
    );
  });
  after(() => service.stop());

  const start = async () => {
    clock = new ManualClock(NOW);
    const log = createLog("silent");
    const modules = buildModules(database, { clock, log });
    keys = new ApiKeys(accountsContext(database, clock));
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_LOG_LEVEL: "silent",
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
    });
    service = await startService({ config, clock, log }, modules);
  };
  beforeEach(async (t) => {
    if (service === undefined) await start();
    recorded.length = 0;
    (t as TestContext).mock.method(Usage.prototype, "record", (request: KeyedRequest) => {
      recorded.push(request);
    });
    const created = await keys.create(account, `key ${Math.random()}`);
    key = { id: created.key.id, secret: created.secret };
  });
  const retire = () => keys.revoke(account, key.id);

  /** Opens a stream and reads its beginning, then nothing. */
  const open = async (version = "1.1"): Promise<Socket> => {
    const socket = connect(service.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET ${PATH} HTTP/${version}\r\nHost: 127.0.0.1:${service.port}\r\nX-API-Key: ${key.secret}\r\n\r\n`,
    );
    await once(socket, "readable");
    return socket;
  };
  /** Reads a stream to its end. */
  const readOn = async (socket: Socket): Promise<Got> => {
    const chunks: Buffer[] = [];
    let error: Error | undefined;
    socket.on("error", (one) => {
      error = one;
    });
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.subarray(-END.length).toString("latin1") === END) socket.end();
    });
    await closed;
    return { text: Buffer.concat(chunks).toString("latin1"), error };
  };
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await setImmediate();
  };
  /** Fails unless the key can open a stream again, which is whole. */
  const assertFree = async () => {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
        headers: { "X-API-Key": key.secret },
      });
      const text = await response.text();
      if (response.status === 429) continue;
      assert.equal(response.status, 200, text);
      assert.equal(text.split("\n").length, LARGE + 1);
      return;
    }
  };

  test("is recorded with its bytes when it ends; whole, with all of them", async () => {
    const { text, error } = await readOn(await open());
    assert.equal(error, undefined);
    assert.ok(text.endsWith(END));
    await until(() => recorded.length === 1);
    const [{ status, bytes, code, route }] = recorded as [KeyedRequest];
    assert.deepEqual([status, code, route], [200, null, "/api/repos.ndjson"]);
    const plain = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
      headers: { "X-API-Key": key.secret, "Accept-Encoding": "identity" },
    });
    assert.equal(bytes, (await plain.arrayBuffer()).byteLength);
    await retire();
  });

  test("because its client has gone is recorded without an error", async () => {
    const socket = await open();
    socket.resetAndDestroy();
    await until(() => recorded.length === 1);
    assert.deepEqual([recorded[0]?.status, recorded[0]?.code], [200, null]);
    await retire();
  });

  /** Lets the second batch of streams fail, after the first was sent. */
  const failLater = (t: TestContext) => {
    const real = Lists.prototype.read;
    t.mock.method(Lists.prototype, "read", function (this: Lists, spec: ListSpec) {
      if ("after" in spec.page) throw new Error("the database has failed");
      return real.call(this, spec);
    });
  };

  test("because the database failed is cut short, and the next one is whole", async (t) => {
    failLater(t);
    const { text, error } = await readOn(await open());
    assert.match(String(error), /ECONNRESET/);
    assert.ok(!text.endsWith(END));
    await until(() => recorded.length === 1);
    assert.deepEqual([recorded[0]?.status, recorded[0]?.code], [500, "INTERNAL"]);
    t.mock.restoreAll();
    await assertFree();
    await retire();
  });

  test("before its first row is an ordinary error", async () => {
    await sql`alter table repositories rename to hidden`.execute(database.write);
    const response = await fetch(`http://127.0.0.1:${service.port}${PATH}`, {
      headers: { "X-API-Key": key.secret },
    });
    await sql`alter table hidden rename to repositories`.execute(database.write);
    assert.equal(response.status, 500);
    assert.match(await response.text(), /"code":"INTERNAL"/);
    await assertFree();
    await retire();
  });

  test("over HTTP/1.0 is reset, as only the end of the connection ends a whole one", async (t) => {
    const whole = await readOn(await open("1.0"));
    assert.equal(whole.error, undefined);
    assert.equal(whole.text.split("\n").filter((line) => line.startsWith('{"id"')).length, LARGE);
    assert.ok(!/transfer-encoding/i.test(whole.text.slice(0, 2_000)));
    await until(() => recorded.length === 1);
    failLater(t);
    assert.match(String((await readOn(await open("1.0"))).error), /ECONNRESET/);
  });
});
