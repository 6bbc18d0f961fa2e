import assert from "node:assert/strict";
import { before, test } from "node:test";
import { decodedText, errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

onSqliteAndLong("What belongs to somebody signed in", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newMember = () => signIn(world, mailbox, `somebody-${++people}@example.org`);
  const isCleared = (headers: Headers) =>
    assert.deepEqual(headers.getSetCookie(), [
      "__Host-sidereal.session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure",
    ]);

  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    const more = Array.from({ length: 501 }, (_, i) =>
      observation(
        `many/r${i}`,
        [daily(i)[0]].flatMap((s) => s ?? []),
      ),
    );
    await world.record(observation("a/one", daily(1, 5)), observation("b/two", daily(3, 4)), ...more);
  });

  test("the list of a new account is empty; what is added is read back with its growth", async () => {
    const { headers } = await newMember();
    const list = async (query = "") => world.get(`/api/me/watchlist${query}`, headers);
    const empty = await list();
    assert.deepEqual([empty.status, empty.body.data, empty.body.meta.total], [200, [], 0]);
    assert.deepEqual((await list("/metrics")).body.data, []);
    assert.equal(empty.headers.get("cache-control"), "no-store");
    const added = await world.send("POST", "/api/me/watchlist", { repositoryId: "2" }, headers);
    const items = [{ repositoryId: "2", addedAt: new Date(NOW).toISOString() }];
    assert.deepEqual([added.status, added.body], [201, { data: { name: "Watchlist", ids: ["2"], items } }]);
    const again = await world.send("POST", "/api/me/watchlist", { repositoryId: "2" }, headers);
    assert.deepEqual([again.status, again.body], [200, added.body]);
    await world.send("POST", "/api/me/watchlist", { ids: ["1", "2"] }, headers);
    const { body } = await list("?window=24h");
    assert.deepEqual(
      body.data.map(({ id, trend }: { id: string; trend: { starsDelta: number } }) => [id, trend.starsDelta]),
      [
        ["2", 1],
        ["1", 4],
      ],
    );
    assert.deepEqual([body.meta.window, body.meta.sort, body.meta.total], ["24h", "added", 2]);
    assert.deepEqual(
      body.data.map(({ addedAt }: { addedAt: string }) => addedAt),
      Array(2).fill(new Date(NOW).toISOString()),
    );
    const sums = await list("/metrics?window=all");
    assert.equal(sums.headers.get("cache-control"), "no-store");
    const shared = (await world.send("POST", "/api/watchlists", { ids: ["2", "1"] })).body.data.token;
    assert.deepEqual((await world.get(`/api/watchlists/${shared}/repositories`)).body.data, body.data);
    assert.deepEqual(sums.body, (await world.get(`/api/watchlists/${shared}/metrics?window=all`)).body);
    assert.ok(sums.body.data.length > 0);
    const byStars = await list("?sort=stars&limit=1");
    assert.equal(byStars.body.data[0].id, "1");
    const next = await list(`?sort=stars&limit=1&cursor=${byStars.body.meta.nextCursor}`);
    assert.equal(next.body.data[0].id, "2");
    assert.match(byStars.headers.get("link") ?? "", /^<https:\/\/sidereal\.example\/api\/me\/watchlist\?/);
  });

  test("the list is renamed and cleared, and a change that names an older version is refused", async () => {
    const { headers } = await newMember();
    const path = "/api/me/watchlist";
    const read = () => world.get(`${path}/items`, headers);
    const fresh = await read();
    assert.deepEqual(fresh.body, { data: { name: "Watchlist", ids: [], items: [] } });
    const tag = fresh.headers.get("etag") ?? "";
    const matching = (etag: string) => ({ ...headers, "If-Match": etag });
    const added = await world.send("POST", path, { ids: ["1", "2"] }, matching(tag));
    assert.equal(added.status, 201);
    for (const [method, target, body] of [
      ["POST", path, { ids: ["3"] }],
      ["PATCH", path, { name: "Old" }],
      ["DELETE", `${path}/1`, undefined],
      ["DELETE", `${path}/items`, undefined],
    ] as const) {
      const refused = errorOf(await world.send(method, target, body, matching(tag)));
      assert.deepEqual([refused.status, refused.code], [412, "PRECONDITION_FAILED"], method);
    }
    const renamed = await world.send(
      "PATCH",
      path,
      { name: "Mine" },
      matching(added.headers.get("etag") ?? ""),
    );
    assert.deepEqual(
      [renamed.status, renamed.body.data.name, renamed.body.data.ids],
      [200, "Mine", ["1", "2"]],
    );
    const one = await world.send(
      "DELETE",
      `${path}/1`,
      undefined,
      matching(renamed.headers.get("etag") ?? ""),
    );
    assert.equal(one.status, 204);
    const cleared = await world.send(
      "DELETE",
      `${path}/items`,
      undefined,
      matching(one.headers.get("etag") ?? ""),
    );
    assert.equal(cleared.status, 204);
    const end = await read();
    assert.deepEqual(end.body, { data: { name: "Mine", ids: [], items: [] } });
    assert.equal(end.headers.get("etag"), cleared.headers.get("etag"));
    const page = await decodedText(await world.request("/watchlist", { headers }));
    assert.match(page, /<h1><bdi>Mine<\/bdi><\/h1>/);
  });

  test("signing out ends this session; everywhere, all of them", async () => {
    const email = "roaming@example.org";
    const [one, two, three] = [
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
    ];
    const status = async ({ headers }: { headers: Record<string, string> }) =>
      (await world.get("/api/me", headers)).status;
    const out = await world.send("POST", "/api/auth/sign-out", undefined, one.headers);
    assert.deepEqual([out.status, out.body], [204, ""]);
    isCleared(out.headers);
    assert.deepEqual([await status(one), await status(two), await status(three)], [401, 200, 200]);
    const again = await world.send("POST", "/api/auth/sign-out", undefined, one.headers);
    assert.equal(again.status, 204);
    const everywhere = await world.send("POST", "/api/me/sign-out-everywhere", undefined, two.headers);
    assert.equal(everywhere.status, 204);
    isCleared(everywhere.headers);
    assert.deepEqual([await status(two), await status(three)], [401, 401]);
  });

  test("a removed account is gone with its sessions, keys and list", async () => {
    const email = "leaving@example.org";
    const [member, elsewhere] = [await signIn(world, mailbox, email), await signIn(world, mailbox, email)];
    const { key } = await createKey(world, member);
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, member.headers);
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 200);
    const gone = await world.send("DELETE", "/api/me", undefined, member.headers);
    assert.equal(gone.status, 204);
    isCleared(gone.headers);
    for (const { headers } of [member, elsewhere])
      assert.equal((await world.get("/api/me", headers)).status, 401);
    assert.equal((await world.get("/api/repos", { "X-API-Key": key })).status, 401);
    const { headers } = await signIn(world, mailbox, email);
    assert.deepEqual((await world.get("/api/me/keys", headers)).body.data, []);
    assert.equal((await world.get("/api/me/watchlist", headers)).body.meta.total, 0);
  });

  test("personal answers are never kept, also in an odd spelling of their address", async () => {
    const { headers } = await newMember();
    const cached = await createWorld(engine, { ...mailbox.settings, SIDEREAL_CACHE_MB: "8" });
    const member = await signIn(cached, mailbox, "odd@example.org");
    for (const path of ["/api/me", "/api/%6De", "/api/me/%77atchlist", "/api/m%65/keys"]) {
      const [own, strange] = await Promise.all([
        cached.request(path, { headers: member.headers }),
        cached.request(path),
      ]);
      assert.equal(strange.status, 401, path);
      assert.equal(own.headers.get("cache-control"), "no-store", path);
      assert.ok(!(await strange.text()).includes("odd@example.org"), path);
    }
    assert.equal((await world.get("/api/me", headers)).headers.get("access-control-allow-origin"), null);
  });
});

onSqliteAndLong("Sessions over HTTP", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `somebody-${++people}@example.org`;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });
  const list = async ({ headers }: Member) => (await world.get("/api/me/sessions", headers)).body.data;
  const statusOf = async ({ headers }: Member) => (await world.get("/api/me", headers)).status;
  const remove = (path: string, { headers }: Member) => world.send("DELETE", path, undefined, headers);
  const namesOf = async ({ headers }: Member) =>
    (await world.get("/api/me/events", headers)).body.data.map(({ event }: { event: string }) => event);

  test("are listed with where they began, without their tokens", async () => {
    const email = newAddress();
    const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const first = await signIn(world, mailbox, email, { "User-Agent": agent });
    const second = await signIn(world, mailbox, email);
    const answer = await world.get("/api/me/sessions", first.headers);
    assert.deepEqual([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
    const { data } = answer.body;
    assert.equal(data.length, 2);
    const [own] = data.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    const { id, createdAt, lastSeenAt, expiresAt, ...rest } = own;
    assert.deepEqual(rest, { isCurrent: true, network: "192.0.2.0/24", agent: "Firefox" });
    assert.ok(createdAt <= lastSeenAt && lastSeenAt < expiresAt);
    for (const { cookie } of [first, second]) {
      const token = cookie.split("=")[1] ?? "";
      assert.ok(!JSON.stringify(data).includes(token.split(".")[0] ?? "") && !id.includes(token));
    }
  });

  test("end one by one, at once and with an entry in the log; one of somebody else is none", async () => {
    const email = newAddress();
    const [first, second] = [await signIn(world, mailbox, email), await signIn(world, mailbox, email)];
    const stranger = await signIn(world, mailbox, newAddress());
    const other = (await list(first)).find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id;
    const missing = { status: 404, code: "NOT_FOUND", message: "There is no such session." };
    for (const id of [other, "nonsense", "1"])
      assert.deepEqual(errorOf(await remove(`/api/me/sessions/${id}`, stranger)), missing);
    const ended = await remove(`/api/me/sessions/${other}`, first);
    assert.deepEqual([ended.status, ended.headers.getSetCookie()], [204, []]);
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 401]);
    assert.deepEqual(errorOf(await remove(`/api/me/sessions/${other}`, first)), missing);
    assert.deepEqual((await namesOf(first)).slice(0, 1), ["session_ended"]);
    const [{ id: own }] = await list(first);
    const last = await remove(`/api/me/sessions/${own}`, first);
    assert.match(last.headers.getSetCookie()[0] ?? "", /session_token=; Max-Age=0/);
    assert.equal(await statusOf(first), 401);
    assert.equal(await statusOf(stranger), 200);
  });

  test("all others end together, and this one goes on", async () => {
    const email = newAddress();
    const members = [
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
      await signIn(world, mailbox, email),
    ] as const;
    const [first, ...others] = members;
    for (let i = 0; i < 2; i++) assert.equal((await remove("/api/me/sessions", first)).status, 204);
    assert.equal(await statusOf(first), 200);
    for (const other of others) assert.equal(await statusOf(other), 401);
    const events = await namesOf(first);
    assert.equal(events.filter((event: string) => event === "sessions_ended").length, 1);
  });
});

onSqliteAndLong("GET /api/me/events", (engine) => {
  const mailbox = openMailbox();
  const start = async () => {
    const world = await createWorld(engine, mailbox.settings);
    const ann = await signIn(world, mailbox, "ann@example.org");
    return { world, ann };
  };

  test("lists the events of the own account, latest first, a page at a time", async () => {
    const { world, ann } = await start();
    const bob = await signIn(world, mailbox, "bob@example.org");
    await createKey(world, bob);
    const { id: key } = await createKey(world, ann);
    const first = await world.get("/api/me/events?limit=2", ann.headers);
    assert.equal(first.status, 200);
    assert.equal(first.headers.get("cache-control"), "no-store");
    const [created, signedIn] = first.body.data;
    const at = new Date(NOW).toISOString();
    const facts = { at, network: "192.0.2.0/24" };
    assert.deepEqual(created, {
      ...facts,
      id: created.id,
      event: "key_created",
      detail: { agent: "None", key },
    });
    assert.equal(signedIn.event, "signed_in");
    const { nextCursor } = first.body.meta;
    assert.equal(nextCursor, signedIn.id);
    const second = await world.get(`/api/me/events?limit=2&cursor=${nextCursor}`, ann.headers);
    assert.deepEqual(
      second.body.data.map(({ event }: { event: string }) => event),
      ["account_created"],
    );
    assert.equal(second.body.meta.nextCursor, null);
  });

  test("refuses other limits and cursors, and visitors", async () => {
    const { world, ann } = await start();
    for (const query of [
      "limit=0",
      "limit=101",
      "limit=x",
      "cursor=0",
      "cursor=x",
      "cursor=99999999999999999",
    ]) {
      const refused = await world.get(`/api/me/events?${query}`, ann.headers);
      assert.deepEqual([refused.status, refused.body.error.code], [400, "VALIDATION_FAILED"], query);
    }
    assert.equal((await world.get("/api/me/events")).status, 401);
  });

  test("a page shows the same in words", async () => {
    const { world, ann } = await start();
    for (let i = 0; i < 5; i++) {
      const { id } = await createKey(world, ann);
      await world.send("DELETE", `/api/me/keys/${id}`, undefined, ann.headers);
    }
    const page = await open(world, "/account/security", ann.headers);
    assert.equal(page.status, 200);
    assert.match(page.text, /API key revoked\s+key: 5/);
    assert.match(page.text, /192\.0\.2\.0\/24/);
    assert.match(page.text, /Account created\s+method: link/);
    assert.doesNotMatch(page.html, /Older events/);
    assert.equal((await open(world, "/account/security?cursor=x", ann.headers)).status, 200);
    const older = await open(world, "/account/security?cursor=2", ann.headers);
    assert.match(older.text, /Account created/);
    assert.doesNotMatch(older.text, /API key (created|revoked)/);
  });
});
