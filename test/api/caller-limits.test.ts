import assert from "node:assert/strict";
import { before, beforeEach, mock, test } from "node:test";
import { sql } from "kysely";
import { DatabaseFault } from "../../src/database/fault.js";
import { createToken } from "../../src/lib/tokens.js";
import { addAccount } from "../support/accounts.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { DEFAULT_LIMITS, limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { changed, createKey, signIn, unknownSession } from "../support/members.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("Limits of sessions", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let addresses = 0;
  let people = 0;

  before(async () => {
    world = await createWorld(engine, { ...DEFAULT_LIMITS, ...mailbox.settings, SIDEREAL_CACHE_MB: "8" });
  });
  /** Signs in somebody new, who has not been counted for longer than any window. */
  const member = async () => {
    world.clock.advance(61_000);
    return signIn(world, mailbox, `limits-${++people}@example.org`);
  };
  /** Limit and rest as told to a new address. */
  const told = async (
    headers: Record<string, string>,
    path = "/api/stats/summary",
    init: RequestInit = {},
  ) => {
    const peer = `198.19.${addresses >> 8}.${addresses++ & 255}`;
    const answer = await world.request(path, { ...init, headers, peer });
    return [
      Number(answer.headers.get("x-ratelimit-limit")),
      Number(answer.headers.get("x-ratelimit-remaining")),
    ];
  };

  test("a session has the limits of its account, whatever the address, and keys are counted apart", async () => {
    const { cookie, headers } = await member();
    assert.deepEqual(await told({ Cookie: cookie }), [400, 399]);
    assert.deepEqual(await told({ Cookie: `a=b; ${cookie}; c=d` }), [400, 398]);
    const { key } = await createKey(world, { cookie, headers });
    assert.deepEqual(await told({ Cookie: cookie, "X-API-Key": key }), [400, 399], "the key's");
    assert.deepEqual(await told({ Cookie: cookie }), [400, 397]);
    const other = await member();
    assert.deepEqual(await told({ Cookie: other.cookie }), [400, 399]);
    const { body } = await world.get("/api/limits", { Cookie: cookie });
    assert.equal(body.data.caller, "signed_in");
    const buckets = body.data.buckets.map(({ bucket }: { bucket: string }) => bucket);
    assert.deepEqual(buckets, ["default", "search", "heavy", "write"]);
  });

  test("the sessions and keys of an account share one ceiling", async () => {
    const { cookie, headers } = await member();
    const keys = [];
    for (const name of ["one", "two"]) keys.push((await createKey(world, { cookie, headers }, name)).key);
    const statuses: number[] = [];
    const ask = async (sent: Record<string, string>) =>
      statuses.push((await world.request("/api/stats/summary", { headers: sent })).status);
    for (let i = 0; i < 400; i++) {
      await ask({ Cookie: cookie });
      for (const key of keys) await ask({ "X-API-Key": key });
    }
    assert.equal(statuses.filter((status) => status === 200).length, 600);
    const refused = await world.request("/api/stats/summary", { headers: { Cookie: cookie } });
    assert.equal(refused.headers.get("ratelimit-policy"), '"default_account";q=600;w=60');
    const { data } = (await world.get("/api/limits", { Cookie: cookie })).body;
    assert.deepEqual([data.account[0].limit, data.account[0].remaining], [600, 0]);
    assert.deepEqual([data.buckets[0].limit, data.buckets[0].remaining], [400, 200]);
  });

  test("keys that use up the ceiling do not keep their owner from revoking them and ending sessions", async () => {
    const limits = { SIDEREAL_LIMITS: "default.account=2,write.account=4" };
    const small = await createWorld(engine, { ...mailbox.settings, ...limits });
    const owner = await signIn(small, mailbox, "leaked@example.org");
    const keys = [];
    for (const name of ["one", "two"]) keys.push(await createKey(small, owner, name));
    for (const { key } of [...keys, ...keys]) await small.get("/api/stats/summary", { "X-API-Key": key });
    const send = async (method: string, path: string) =>
      (await small.send(method, path, undefined, owner.headers)).status;
    assert.equal(await send("GET", "/api/me"), 429);
    for (const path of ["/api/me/keys", "/api/me/sessions", "/account", "/account/keys", "/account/sessions"])
      assert.equal(await send("GET", path), 200, path);
    for (const path of [`/api/me/keys/${keys[0]?.id}`, "/api/me/sessions"])
      assert.ok((await send("DELETE", path)) < 300, path);
    assert.ok((await send("POST", "/api/me/sign-out-everywhere")) < 300);
  });

  test("signing in is limited by address also with a session", async () => {
    const { headers } = await member();
    const [limit] = await told(headers, "/api/auth/sign-out", { method: "POST" });
    assert.equal(limit, 10);
  });

  test("a cookie that opens nothing leaves its sender an address, and is answered", async () => {
    const { cookie } = await member();
    const name = cookie.split("=")[0];
    for (const bad of [
      changed(cookie, cookie.length - 8),
      changed(cookie, 40),
      `${name}=x`,
      `${name}=`,
      "x=y",
    ])
      assert.deepEqual(await told({ Cookie: bad }), [120, 119], bad);
  });

  test("a session is read once in five seconds, and one that is over no more often", async (t) => {
    const { cookie } = await member();
    const query = t.mock.method(world.modules.database.read.getExecutor(), "executeQuery");
    const reads = () =>
      query.mock.calls.filter(({ arguments: [{ sql: text }] }) => /from "sessions"/.test(text)).length;
    world.clock.advance(5_000);
    for (let i = 0; i < 20; i++) assert.equal((await told({ Cookie: cookie }))[0], 400);
    assert.equal(reads(), 1);
    world.clock.advance(4_999);
    await told({ Cookie: cookie });
    assert.equal(reads(), 1);
    world.clock.advance(1);
    await told({ Cookie: cookie });
    assert.equal(reads(), 2);
    await sql`delete from sessions`.execute(world.modules.database.durable);
    world.clock.advance(5_000);
    for (let i = 0; i < 20; i++) assert.equal((await told({ Cookie: cookie }))[0], 120);
    assert.equal(reads(), 3);
  });

  test("signing out, here or everywhere, and removal take the limits of the session at once", async () => {
    const leave = [
      ["POST", "/api/auth/sign-out"],
      ["POST", "/api/me/sign-out-everywhere"],
      ["DELETE", "/api/me"],
    ] as const;
    for (const [method, path] of leave) {
      const { cookie, headers } = await member();
      assert.equal((await told({ Cookie: cookie }))[0], 400);
      const answer = await world.send(method, path, undefined, headers);
      assert.ok(answer.status < 300, `${path} ${answer.status} ${JSON.stringify(answer.body)}`);
      assert.equal((await told({ Cookie: cookie }))[0], 120, path);
    }
  });

  test("a session that ended elsewhere loses its limits within five seconds", async () => {
    const { cookie } = await member();
    assert.equal((await told({ Cookie: cookie }))[0], 400);
    await sql`delete from sessions`.execute(world.modules.database.durable);
    world.clock.advance(5_000);
    assert.equal((await told({ Cookie: cookie }))[0], 120);
  });

  test("a public answer is the same with a session and without, and made once", async (t) => {
    const { cookie } = await member();
    const summary = t.mock.method(world.modules.rankings, "summary");
    const bodies = [];
    for (const headers of [{ Cookie: cookie }, {}, { Cookie: cookie }]) {
      const answer = await world.request("/api/stats/summary", { headers });
      bodies.push(await answer.text(), answer.headers.get("cache-control"), answer.headers.get("etag"));
    }
    assert.deepEqual(bodies.slice(3, 6), bodies.slice(0, 3));
    assert.deepEqual(bodies.slice(6, 9), bodies.slice(0, 3));
    assert.ok(summary.mock.callCount() <= 1);
  });

  test("if sessions cannot be looked up the address counts, and the answer is given", async (t) => {
    const { cookie } = await member();
    t.mock.method(world.members.accounts, "findId", async () => {
      throw new DatabaseFault("unavailable", new Error("the database is away"));
    });
    assert.deepEqual(await told({ Cookie: cookie }), [120, 119]);
  });

  test("API keys and credentials of a proxy are ignored on pages, which count for the address", async () => {
    const world = await createWorld(engine, limits("default.account=777"));
    const account = await addAccount(world.modules.database, "reader@example.org");
    const { secret } = await world.members.keys.create(account, "key");
    const policyOf = async (path: string, headers: Record<string, string>) => {
      const response = await world.request(path, { headers });
      assert.equal(response.status, 200);
      return response.headers.get("ratelimit-policy");
    };
    const stranger = await policyOf("/explore", {});
    assert.equal(await policyOf("/explore", { "X-API-Key": secret }), stranger);
    assert.equal(await policyOf("/explore", { Authorization: "Bearer eyJhbGciOiJub25lIn0.e30." }), stranger);
    assert.notEqual(await policyOf("/api/repos", { "X-API-Key": secret }), stranger);
  });
});

const LOOKUPS = 5;
const PATH = "/api/stats/summary";

onSqliteAndLong("Looking up keys and sessions", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let addresses = 0;
  let reads: () => number;

  before(async () => {
    world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_CACHE_MB: "8",
      ...limits(`lookup=${LOOKUPS}`),
    });
    const query = mock.method(world.modules.database.read.getExecutor(), "executeQuery");
    const pattern = /from "(?:api_keys|sessions)"/;
    reads = () => query.mock.calls.filter(({ arguments: [{ sql }] }) => pattern.test(sql)).length;
  });
  beforeEach(() => world.clock.advance(660_000));

  const newAddress = () => `198.18.7.${++addresses}`;
  const ask = async (peer: string, headers: Record<string, string>) => {
    const answer = await world.request(PATH, { headers, peer });
    return `${answer.status} ${answer.headers.get("x-ratelimit-resource")}`;
  };
  const guess = (peer: string) => ask(peer, { "X-API-Key": createToken("sid") });
  const times = <T>(count: number, what: T) => new Array<T>(count).fill(what);
  const keyOf = async (email: string) =>
    (await world.members.keys.create(await addAccount(world.modules.database, email), "key")).secret;

  test("costs a bounded number of reads, however many keys are guessed at the same time", async () => {
    const [peer, earlier] = [newAddress(), reads()];
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => guess(peer)));
    assert.equal(answers.filter((answer) => answer === "401 default").length, LOOKUPS);
    assert.equal(answers.filter((answer) => answer === "429 lookup").length, 1_000 - LOOKUPS);
    assert.equal(reads() - earlier, LOOKUPS);
    world.clock.advance(60_000 / LOOKUPS);
    assert.deepEqual([await guess(peer), await guess(peer)], ["401 default", "429 lookup"]);
  });

  test("of sessions that nobody has is bounded in the same way", async () => {
    const peer = newAddress();
    const answers = [];
    for (let i = 0; i < 2 * LOOKUPS; i++) answers.push(await ask(peer, { Cookie: unknownSession(i) }));
    assert.deepEqual(answers, [...times(LOOKUPS, "200 default"), ...times(LOOKUPS, "429 lookup")]);
  });

  test("leaves those who were found before their access, when somebody else guesses", async () => {
    const peer = newAddress();
    const secret = await keyOf("familiar@example.org");
    const { cookie } = await signIn(world, mailbox, "session@example.org");
    for (const headers of [{ "X-API-Key": secret }, { Cookie: cookie }])
      assert.equal(await ask(peer, headers), "200 default");
    for (let i = 0; i < 2 * LOOKUPS; i++) await guess(peer);
    for (let minute = 0; minute < 9; minute++) {
      world.clock.advance(60_000);
      for (let i = 0; i < LOOKUPS; i++) await guess(peer);
      for (const headers of [{ "X-API-Key": secret }, { Cookie: cookie }])
        assert.equal(await ask(peer, headers), "200 default");
    }
    const stranger = { "X-API-Key": await keyOf("stranger@example.org") };
    assert.equal(await ask(peer, stranger), "429 lookup");
    assert.equal(await ask(newAddress(), stranger), "200 default");
  });

  test("costs a valid key nothing, found by one request or by several together", async () => {
    const peer = newAddress();
    for (let i = 0; i < 3 * LOOKUPS; i++)
      assert.equal(await ask(peer, { "X-API-Key": await keyOf(`many-${i}@example.org`) }), "200 default");
    const secrets = await Promise.all(times(LOOKUPS, 0).map((_, i) => keyOf(`together-${i}@example.org`)));
    const answers = await Promise.all(secrets.map((secret) => ask(peer, { "X-API-Key": secret })));
    assert.deepEqual(answers, times(LOOKUPS, "200 default"));
    assert.equal(await guess(peer), "401 default");
  });

  test("of a revoked key costs one, and it is not familiar after that", async () => {
    const peer = newAddress();
    const account = await addAccount(world.modules.database, "revoked@example.org");
    const { key, secret } = await world.members.keys.create(account, "key");
    assert.equal(await ask(peer, { "X-API-Key": secret }), "200 default");
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    await world.members.keys.revoke(account, key.id);
    const earlier = reads();
    assert.equal(await ask(peer, { "X-API-Key": secret }), "401 default");
    assert.equal(reads() - earlier, 1);
    world.clock.advance(60_000 - 12_001);
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    assert.equal(await ask(peer, { "X-API-Key": secret }), "401 default", "known to belong to nobody");
    world.clock.advance(12_001);
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    assert.equal(await ask(peer, { "X-API-Key": secret }), "429 lookup");
  });

  test("of malformed keys reads nothing and takes no lookup", async () => {
    const [peer, earlier] = [newAddress(), reads()];
    for (let i = 0; i < 2 * LOOKUPS; i++)
      assert.equal(await ask(peer, { "X-API-Key": `sid_${i}` }), "401 default");
    assert.equal(reads(), earlier);
  });

  test("reads nothing for a session cookie that is sent twice, or not spelled as issued", async () => {
    const { cookie } = await signIn(world, mailbox, "spelling@example.org");
    const [name = "", value = ""] = cookie.split(/=(.*)/s);
    const [token = "", signature = ""] = value.split(".");
    const lastDigit = (by: number) => {
      const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
      const digit = signature.at(-4) ?? "";
      return `${signature.slice(0, -4)}${digits[digits.indexOf(digit) + by]}%3D`;
    };
    const others = [
      `${cookie}; ${name}=x1`,
      `${name}=x1; ${cookie}`,
      `${cookie}; ${cookie}`,
      ...Array.from(token, (_, i) => {
        const code = token.charCodeAt(i).toString(16);
        return `${name}=${token.slice(0, i)}%${code}${token.slice(i + 1)}.${signature}`;
      }),
      `${name}=${token}%2E${signature}`,
      `${name}=${token}.${signature.replace("%3D", "%3d")}`,
      `${name}=${token}.${decodeURIComponent(signature)}`,
      `${name}=${token}.${lastDigit(1)}`,
      `${name}="${value}"`,
      `${name}= ${value}`,
    ];
    for (const path of [PATH, "/about"])
      for (const other of others) {
        const [peer, earlier] = [newAddress(), reads()];
        await world.request(path, { headers: { Cookie: other }, peer });
        assert.equal(reads() - earlier, 0, `${path} ${other}`);
      }
    world.clock.advance(660_000);
    const earlier = reads();
    assert.equal(await ask(newAddress(), { Cookie: `a=b; ${cookie}` }), "200 default");
    assert.ok(reads() > earlier, "the cookie as issued");
  });

  test("is not needed for OPTIONS with a session", async () => {
    const { cookie } = await signIn(world, mailbox, "options@example.org");
    world.clock.advance(660_000);
    const [peer, earlier] = [newAddress(), reads()];
    for (const path of [PATH, "/api/me", "/about", "/nowhere"])
      await world.request(path, { method: "OPTIONS", headers: { Cookie: cookie }, peer });
    assert.equal(reads(), earlier);
  });

  test("counts an IPv6 network of 64 bits as one, and of 48 bits as sixteen", async () => {
    const guessed = async (peers: readonly string[]) => {
      let found = 0;
      for (const peer of peers) if ((await guess(peer)) === "401 default") found++;
      return found;
    };
    assert.equal(await guessed(Array.from({ length: 20 }, (_, i) => `2001:db8:1:1::${i + 1}`)), LOOKUPS);
    const networks = Array.from({ length: 30 }, (_, i) => times(LOOKUPS, `2001:db8:2:${i + 1}::1`)).flat();
    assert.equal(await guessed(networks), 16 * LOOKUPS);
  });
});

onSqlite("What is free of charge", (engine) => {
  const FREE = 5;
  const openWorld = (env: Record<string, string> = {}) =>
    createWorld(engine, {
      SIDEREAL_CACHE_MB: "8",
      ...limits(`free=${FREE},default=3`),
      ...env,
    });
  const statuses = async (count: number, ask: () => Promise<Response>) => {
    const found: number[] = [];
    for (let i = 0; i < count; i++) found.push((await ask()).status);
    return found;
  };

  test("has a limit by address, which the health of the service keeps for this machine", async () => {
    const world = await openWorld();
    assert.deepEqual(await statuses(7, () => world.request("/healthz")), [200, 200, 200, 200, 200, 429, 429]);
    assert.deepEqual(await statuses(2, () => world.request("/api/limits")), [429, 429]);
    const local = () => world.request("/healthz", { peer: "127.0.0.1" });
    assert.deepEqual(await statuses(7, local), new Array(7).fill(200));
    assert.equal((await world.request("/readyz", { peer: "::1" })).status, 200);
    assert.equal((await world.request("/readyz", { peer: "192.0.2.9" })).status, 200);
  });

  test("is charged for beyond that: 304 responses cost like others", async () => {
    const world = await openWorld();
    await world.record(observation("a/one", daily(1, 2)));
    const first = await world.request("/api/repos");
    const headers = { "If-None-Match": first.headers.get("etag") ?? "" };
    const again = () => world.request("/api/repos", { headers });
    assert.deepEqual(await statuses(9, again), [304, 304, 304, 304, 304, 304, 304, 429, 429]);
  });
});
