import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { DatabaseFault } from "../../src/database/fault.js";
import { onSqliteAndLong } from "../support/engines.js";
import { DEFAULT_LIMITS } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { changed, createKey, signIn } from "../support/members.js";
import { createWorld, type World } from "../support/world.js";

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

  test("where sessions cannot be looked up the address counts, and the answer is given", async (t) => {
    const { cookie } = await member();
    t.mock.method(world.members.accounts, "findId", async () => {
      throw new DatabaseFault("unavailable", new Error("the database is away"));
    });
    assert.deepEqual(await told({ Cookie: cookie }), [120, 119]);
  });
});
