import assert from "node:assert/strict";
import { before, test } from "node:test";
import { decodedText, errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, signIn } from "../support/members.js";
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

  test("a repository is taken out, also when it is not there", async () => {
    const { headers } = await newMember();
    await world.send("POST", "/api/me/watchlist", { ids: ["1", "2"] }, headers);
    for (const id of ["1", "1", "999999999"]) {
      const answer = await world.send("DELETE", `/api/me/watchlist/${id}`, undefined, headers);
      assert.deepEqual([answer.status, answer.body], [204, ""]);
    }
    assert.deepEqual((await world.get("/api/me/watchlist", headers)).body.meta.total, 1);
    const odd = await world.send("DELETE", "/api/me/watchlist/x", undefined, headers);
    assert.equal(errorOf(odd).code, "VALIDATION_FAILED");
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

  test("ids that no repository has are told, and then none is added", async () => {
    const { headers } = await newMember();
    const add = (body: unknown) => world.send("POST", "/api/me/watchlist", body, headers);
    const values = ["99999999", "9999999999999999999"];
    assert.deepEqual(
      errorOf(await add({ ids: ["1", ...values] })),
      invalid("ids", "no repository has this id", { values }),
    );
    assert.deepEqual(
      errorOf(await add({ repositoryId: "99999999" })),
      invalid("repositoryId", "no repository has this id", { values: ["99999999"] }),
    );
    for (const body of [{}, { ids: "1" }, { repositoryId: 1 }, { fullNames: ["none"] }])
      assert.equal(errorOf(await add(body)).code, "VALIDATION_FAILED", JSON.stringify(body));
    assert.equal((await add({ repositoryId: "x".repeat(20_000) })).status, 413);
    assert.equal((await world.get("/api/me/watchlist", headers)).body.meta.total, 0);
  });

  test("a list holds 500, however many come at the same time", async () => {
    const { headers } = await newMember();
    const add = (ids: string[]) => world.send("POST", "/api/me/watchlist", { ids }, headers);
    const ids = Array.from({ length: 503 }, (_, i) => String(i + 1));
    assert.equal((await add(ids.slice(0, 495))).status, 201);
    const answers = await Promise.all(ids.slice(495).map((id) => add([id])));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 201, 201, 201, 201, 409, 409, 409]);
    const full = errorOf(await add(ids.slice(495)));
    assert.equal(full.code, "LIMIT_REACHED");
    assert.equal((await world.get("/api/me/watchlist", headers)).body.meta.total, 500);
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
