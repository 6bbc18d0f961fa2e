import assert from "node:assert/strict";
import { test } from "node:test";
import { createOperatorUrl } from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config/config.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { MAX_OPEN } from "../../src/tracking/requests/wanted.js";
import { errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { createKey, ORIGIN, signIn } from "../support/members.js";
import { createWorld, NOW, observation, type World } from "../support/world.js";

const PATH = "/api/track";
const OPEN = { SIDEREAL_PROVIDERS: "github,gitlab", SIDEREAL_TRACK: "everyone" };

onSqliteAndLong("POST /api/track", (engine) => {
  const mailbox = openMailbox();
  const openWorld = (env: Record<string, string> = {}) => createWorld(engine, { ...OPEN, ...env });
  const request = (world: World, repository: unknown, headers: Record<string, string> = {}) =>
    world.send("POST", PATH, { repository }, headers);
  const from = async (world: World, peer: string, repository: string) =>
    world.request(PATH, {
      peer,
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ repository }),
    });

  test("answers 202 with the place in the queue, and the address of its state", async () => {
    const world = await openWorld();
    const first = await request(world, "https://github.com/o/first/issues/5");
    assert.equal(first.status, 202);
    const { id, ...data } = first.body.data;
    assert.match(id, /^sidt_[0-9A-Za-z]{36}$/);
    assert.deepEqual(data, {
      state: "WAITING",
      provider: "GITHUB",
      fullName: "o/first",
      position: 1,
      estimatedSeconds: null,
      historyPages: 0,
      pointCount: 0,
      pointsFrom: null,
      waitsUntil: null,
      unreachable: false,
      repository: null,
      failure: null,
      requestedAt: new Date(NOW).toISOString(),
      finishedAt: null,
    });
    assert.equal(first.headers.get("location"), `${PATH}/${id}`);
    assert.equal(first.headers.get("cache-control"), "no-store");
    const second = await request(world, "git@github.com:o/second.git");
    assert.equal(second.body.data.position, 2);
    const elsewhere = await request(world, "gitlab:g/s/n");
    assert.deepEqual(
      [elsewhere.body.data.position, elsewhere.body.data.provider, elsewhere.body.data.fullName],
      [1, "GITLAB", "g/s/n"],
    );
    const followed = await world.get(first.headers.get("location") ?? "");
    assert.deepEqual([followed.status, followed.body.data], [200, first.body.data]);
  });

  test("joins the open request for the same repository, in any case and by any of its addresses, for nothing", async () => {
    const world = await openWorld(limits("tracked=2"));
    const { body } = await request(world, "o/n");
    for (const address of ["O/N", "https://github.com/o/N/pulls", "git@github.com:o/n.git"]) {
      const joined = await request(world, address);
      assert.deepEqual([joined.status, joined.body.data], [202, body.data]);
    }
    assert.equal((await request(world, "o/other")).status, 202, "joining has used nothing");
    assert.equal((await request(world, "gitlab:o/n")).status, 429);
  });

  test("answers 200 with a repository that is known and available, and queues a previous name, which another may use now", async () => {
    const world = await openWorld();
    await world.record(observation("old/name", [], { providerId: "7", at: NOW - 1_000 }));
    await world.record(observation("later/name", [], { providerId: "7" }));
    await world.record(observation("gone/name", [], { providerId: "8", facts: { availability: "GONE" } }));
    for (const name of ["later/name", "LATER/name"]) {
      const { status, body } = await request(world, name);
      assert.equal(status, 200);
      assert.deepEqual(body.data.repository, {
        id: "1",
        fullName: "later/name",
        href: "/api/repos/github/by-full-name?fullName=later%2Fname",
        page: "/repos/github/later/name",
      });
      assert.deepEqual([body.data.id, body.data.state], [null, "FINISHED"]);
    }
    assert.equal((await request(world, "gone/name")).status, 202);
    assert.equal((await request(world, "old/name")).status, 202);
  });

  test("answers 400 and which part is wrong, with the configured forges for an unknown host", async () => {
    const world = await openWorld();
    const unknown = await request(world, "https://bitbucket.org/o/n");
    assert.equal(unknown.status, 400);
    assert.deepEqual(unknown.body.error.details, [
      {
        parameter: "repository",
        message: "must be on the host of a configured forge: github.com, gitlab.com",
        allowed: ["github.com", "gitlab.com"],
      },
    ]);
    for (const repository of [
      "",
      "name",
      "https://github.com/topics/x",
      5,
      null,
      ["o/n"],
      "x".repeat(3_000),
    ]) {
      const { status, body } = await request(world, repository);
      assert.equal(status, 400);
      assert.equal(body.error.details[0].parameter, "repository");
    }
    const more = await world.send("POST", PATH, { repository: "o/n", watchlist: 1 });
    assert.equal(more.status, 400);
  });

  test("answers 403 while it is off, which it is without accounts, and says who may ask and how to change it", async () => {
    const off = await createWorld(engine, { SIDEREAL_PROVIDERS: "github" });
    for (const world of [off, await openWorld({ SIDEREAL_TRACK: "off" })]) {
      const { status, code, message } = errorOf(await request(world, "o/n"));
      assert.deepEqual([status, code], [403, "FORBIDDEN"]);
      assert.match(message, /^Only operators may request .* SIDEREAL_OPERATORS.* SIDEREAL_TRACK/);
    }
  });

  test("is for operators by default: in a browser that opened the printed address, or by a key of their account", async () => {
    const base = "http://127.0.0.1:3000";
    const local = await createWorld(engine, { SIDEREAL_PROVIDERS: "github", SIDEREAL_BASE_URL: base });
    const from = (path: string, init: RequestInit) =>
      local.request(path, {
        ...init,
        peer: "127.0.0.1",
        headers: { Host: "127.0.0.1:3000", ...init.headers },
      });
    const config = loadConfig({ SIDEREAL_BASE_URL: base });
    const url = (await createOperatorUrl(local.modules.database, config, NOW)) ?? "";
    const entered = await from(url.slice(base.length), {});
    const Cookie = entered.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const ask = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ repository: "o/n" });
      const sent = { "Content-Type": "application/json", ...headers };
      return (await from(PATH, { method: "POST", body, headers: sent })).status;
    };
    assert.equal(await ask({ Cookie, Origin: base }), 202);
    assert.equal(await ask({ Cookie, "Sec-Fetch-Site": "same-origin" }), 202);
    for (const other of [{}, { Cookie }, { Cookie, Origin: "https://elsewhere.example" }])
      assert.equal(await ask(other), 403);
    local.clock.set(NOW - DAY_MS);
    assert.equal(await ask({ Cookie, Origin: base }), 403, "a session that began in the future has ended");

    const settings = { SIDEREAL_TRACK: "off", SIDEREAL_OPERATORS: "ann@example.org" };
    const world = await openWorld({ ...mailbox.settings, ...settings });
    for (const [email, status] of [
      ["ann@example.org", 202],
      ["bob@example.org", 403],
    ] as const) {
      const member = await signIn(world, mailbox, email);
      const { key } = await createKey(world, member);
      assert.equal((await request(world, "o/n", member.headers)).status, status);
      assert.equal((await request(world, "o/n", { "X-API-Key": key })).status, status);
    }
  });

  test("is for accounts alone if they are configured: by a key, or a session on our own pages", async () => {
    const world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_PROVIDERS: "github" });
    const anonymous = await request(world, "o/n");
    assert.deepEqual([anonymous.status, anonymous.body.error.code], [401, "UNAUTHENTICATED"]);
    assert.match(anonymous.headers.get("www-authenticate") ?? "", /Bearer/);
    const member = await signIn(world, mailbox, "ann@example.org");
    assert.equal((await request(world, "o/n", member.headers)).status, 202);
    const foreign = { ...member.headers, Origin: "https://elsewhere.example" };
    assert.equal((await request(world, "o/foreign", foreign)).status, 401);
    assert.equal((await request(world, "o/m", { Cookie: "x=1", Origin: ORIGIN })).status, 401);
    const { key } = await createKey(world, member);
    assert.equal((await request(world, "o/key", { "X-API-Key": key })).status, 202);
    assert.equal((await request(world, "o/key", { "X-API-Key": "sid_unknown" })).status, 401);
  });

  test("counts the keys and sessions of an account together, by day, and says when to come back", async () => {
    const world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_PROVIDERS: "github",
      ...limits("tracked=3"),
    });
    const ann = await signIn(world, mailbox, "ann@example.org");
    const keys = [await createKey(world, ann, "one"), await createKey(world, ann, "two")];
    const senders = [ann.headers, ...keys.map(({ key }) => ({ "X-API-Key": key }))];
    for (const [i, headers] of senders.entries())
      assert.equal((await request(world, `o/n${i}`, headers)).status, 202);
    for (const headers of senders) {
      const refused = await request(world, "o/more", headers);
      assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
      assert.equal(refused.headers.get("retry-after"), String(12 * 3_600));
      assert.match(refused.body.error.message, /at most 3 repositories may be requested in a day/);
    }
    const bob = await signIn(world, mailbox, "bob@example.org");
    assert.equal((await request(world, "o/more", bob.headers)).status, 202);
    world.clock.advance(12 * 3_600_000);
    assert.equal((await request(world, "o/next", senders[1])).status, 202);
  });

  test("keeps the daily limit when 50 requests come at the same time, and then stores no more than it", async () => {
    const world = await openWorld(limits("tracked=5"));
    const peer = "198.51.100.7";
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => (await from(world, peer, `o/n${i}`)).status),
    );
    const count = (status: number) => statuses.filter((one) => one === status).length;
    assert.deepEqual([count(202), count(429)], [5, 45]);
    const rows = await world.modules.database.read.selectFrom("wanted").selectAll().execute();
    assert.equal(rows.length, 5);
    assert.equal((await from(world, "198.51.100.8", "o/other")).status, 202);
  });

  test("makes one request of 50 for the same repository that come at the same time", async () => {
    const world = await openWorld();
    const ids = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => (await request(world, i % 2 ? "o/n" : "O/n")).body.data.id),
    );
    assert.equal(new Set(ids).size, 1);
  });

  test("takes an open request out of its batch, which counts like a new one", async () => {
    const world = await openWorld(limits("tracked=1"));
    const names = ["o/a", "o/b", "o/c"].map((fullName) => ({ provider: "GITHUB", fullName }));
    const [, , last] = await world.modules.trackRequests.add(names, { isBatch: true });
    const { status, body } = await request(world, "o/c");
    assert.deepEqual([status, body.data.id, body.data.position], [202, last?.public_id, 1]);
    assert.equal((await request(world, "o/c")).status, 202, "joining it again counts for nothing");
    assert.equal((await request(world, "o/b")).status, 429);
  });

  test("answers 503 while the queue of the forge is full, and others go on", async () => {
    const world = await openWorld({ SIDEREAL_LIMITS: "false" });
    const { trackRequests, database } = world.modules;
    const names = Array.from({ length: MAX_OPEN }, (_, i) => ({ provider: "GITHUB", fullName: `o/n${i}` }));
    await trackRequests.add(names, { isBatch: true });
    assert.equal((await request(world, "o/before")).status, 202, "batches do not take the places of people");
    await database.write.updateTable("wanted").set({ is_batch: 0 }).execute();
    const full = await request(world, "o/more");
    assert.deepEqual([full.status, full.headers.get("retry-after")], [503, "600"]);
    assert.equal((await request(world, "o/n5")).status, 202);
    assert.equal((await request(world, "gitlab:o/more")).status, 202);
    const read = database.write.updateTable("wanted").set({ repository_id: 1 });
    await read.where("text", "in", ["o/n5", "o/n6"]).execute();
    assert.equal((await request(world, "o/more")).status, 202, "a history that is read takes no place");
  });

  test("takes no body but JSON of the contract", async () => {
    const world = await openWorld();
    const post = (type: string, body: string) =>
      world.request(PATH, { method: "POST", headers: { "Content-Type": type }, body });
    assert.equal((await post("text/plain", "o/n")).status, 415);
    assert.equal((await post("application/json", "{")).status, 400);
    assert.equal(
      (await post("application/json", JSON.stringify({ repository: "x".repeat(20_000) }))).status,
      413,
    );
  });
});

onSqliteAndLong("GET /api/track/{requestId}", (engine) => {
  test("answers 404 for what is no request, and does not tell which", async () => {
    const world = await createWorld(engine, OPEN);
    const { body } = await world.send("POST", PATH, { repository: "o/n" });
    const { id } = body.data;
    const changed = `${id.slice(0, -1)}${id.endsWith("x") ? "y" : "x"}`;
    for (const other of ["1", "x", changed, "sidw_000000000000000000000000000000000000"]) {
      const { status, code } = errorOf(await world.get(`${PATH}/${other}`));
      assert.deepEqual([status, code], [404, "NOT_FOUND"], other);
    }
  });

  test("says in plain words why a request failed, and the same of a private repository as of none", async () => {
    const world = await createWorld(engine, OPEN);
    const { database } = world.modules;
    const failures: Record<string, { reason: string; message: string }> = {};
    for (const kind of ["gone", "private", "blocked", "renamed", "refused", "malformed", "unreachable"]) {
      const { body } = await world.send("POST", PATH, { repository: `o/${kind}` });
      await database.write
        .updateTable("wanted")
        .set({ failure: kind, finished_at: NOW })
        .where("public_id", "=", body.data.id)
        .execute();
      const { status, body: after } = await world.get(`${PATH}/${body.data.id}`);
      assert.deepEqual([status, after.data.state, after.data.position], [200, "FAILED", null]);
      failures[kind] = after.data.failure;
    }
    assert.deepEqual(failures.private, failures.gone);
    assert.deepEqual(
      Object.values(failures).map(({ reason }) => reason),
      ["NOT_FOUND", "NOT_FOUND", "BLOCKED", "MOVED", "REFUSED", "UNUSABLE", "UNREACHABLE"],
    );
  });

  test("estimates the time until its turn from what the worker reports, also while the quota is used up", async () => {
    const world = await createWorld(engine, { ...OPEN, SIDEREAL_LIMITS: "false" });
    const { trackRequests, database } = world.modules;
    await trackRequests.add(
      Array.from({ length: 40 }, (_, i) => ({ provider: "GITHUB", fullName: `o/n${i}` })),
      { isBatch: true },
    );
    await database.write.updateTable("wanted").set({ is_batch: 0 }).execute();
    const { body } = await world.send("POST", PATH, { repository: "o/last" });
    assert.deepEqual([body.data.position, body.data.estimatedSeconds], [41, null]);
    const estimate = async (pace: {
      readyAt: number;
      remaining: number | null;
      quota: number | null;
      resetAt?: number;
    }) => {
      await database.write.deleteFrom("worker_reports").execute();
      const report = JSON.stringify({ lookups: { resetAt: null, ...pace } });
      const row = { provider: "GITHUB", at: NOW, body: report };
      await database.write.insertInto("worker_reports").values(row).execute();
      return (await world.get(`${PATH}/${body.data.id}`)).body.data.estimatedSeconds;
    };
    const halfAnHour = NOW + 1_800_000;
    assert.equal(await estimate({ readyAt: NOW, remaining: 5_000, quota: 5_000 }), 41);
    assert.equal(await estimate({ readyAt: NOW, remaining: null, quota: null }), 41);
    assert.equal(
      await estimate({ readyAt: NOW, remaining: 20, quota: 60, resetAt: halfAnHour }),
      1_800 + 3_600 + 41,
    );
    assert.equal(await estimate({ readyAt: halfAnHour, remaining: 0, quota: 60 }), 1_800 + 3_600 + 41);
    world.clock.advance(120_000);
    assert.equal((await world.get(`${PATH}/${body.data.id}`)).body.data.estimatedSeconds, null);
  });
});
