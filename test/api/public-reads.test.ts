import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { updateDerived } from "../../src/modules.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** What belongs to people, what somebody waits for, and what a worker does. None of it may be read from a replica. */
const OWN_TABLES = [
  "accounts",
  "api_keys",
  "security_events",
  "mail_use",
  "sign_in_requests",
  "usage_routes",
  "usage_allowances",
  "usage_callers",
  "usage_events",
  "daily_use",
  "watchlists",
  "watchlist_items",
  "watchlist_visits",
  "track_requests",
  "track_request_lists",
  "track_lanes",
  "tracking",
  "forge_tokens",
  "operator_codes",
  "operator_sessions",
  "status_documents",
  "worker_reports",
] as const;

onBothEngines("A service whose replica lags far behind", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let member: Member;
  let generation = 0;
  let replica: Database;
  before(async () => {
    // What the replica has: one repository, and no table of people at all.
    replica = await engine.open();
    const old = await createWorld({ ...engine, open: async () => replica });
    await old.record(observation("a/one", daily(1, 5)));
    for (const table of OWN_TABLES)
      await sql`alter table ${sql.table(table)} rename to ${sql.table(`no_${table}`)}`.execute(replica.write);
    const primary = await engine.open();
    const publicReads: Database["publicReads"] = {
      database: {
        ...replica,
        get write(): Database["write"] {
          throw new Error("it only reads");
        },
        get durable(): Database["durable"] {
          throw new Error("it only reads");
        },
      },
      generation: () => generation,
      location: () => primary.location ?? { url: undefined, dataDir: ":memory:" },
      status: () => [
        { name: "db2.example:5432", state: "ready", lagMs: 3_400, isUsed: true },
        { name: "db3.example:5432", state: "away", lagMs: null, isUsed: false },
      ],
    };
    const split: Engine = { ...engine, open: async () => ({ ...primary, publicReads }) };
    world = await createWorld(split, {
      ...mailbox.settings,
      SIDEREAL_CACHE_MB: "8",
      SIDEREAL_PROVIDERS: "github",
      SIDEREAL_TRACK: "everyone",
      SIDEREAL_OPERATORS: "somebody@example.org",
    });
    await world.record(observation("a/one", daily(1, 5)), observation("b/two", daily(3, 9)));
    member = await signIn(world, mailbox, "somebody@example.org");
  });

  test("shows everybody what the replica has", async () => {
    for (const path of [
      "/api/repos",
      "/api/repos?q=one",
      "/api/trending",
      "/api/home",
      "/api/stats/summary",
      "/api/search/suggest?q=two",
      "/api/repos/1",
      "/api/repos/1/metrics",
      "/api/repos/1/ranks",
      "/api/metrics?repo=1",
      "/api/embed/chart?repo=github:a/one",
      "/api/embed/badge.svg?repo=github:a/one",
      "/api/facets/languages",
      "/api/feeds/trending.atom",
      "/readyz",
      "/",
      "/explore",
      "/languages",
      "/repos/github/a/one",
      "/compare?repo=github:a/one",
      "/cards/lists",
      "/cards/pages/home",
      "/sitemap.xml",
      "/sitemaps/repositories-1.xml",
    ]) {
      const { status, body } = await world.get(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(typeof body === "string" ? body : JSON.stringify(body), /b\/two/, path);
    }
    for (const path of ["/api/repos/2", "/repos/github/b/two"])
      assert.equal((await world.get(path)).status, 404, path);
    const { body } = await world.get("/api/repos", member.headers);
    assert.deepEqual(
      body.data.map(({ fullName }: { fullName: string }) => fullName),
      ["a/one"],
    );
  });

  test("shows somebody signed in the pages of everybody, with the stars of their own", async () => {
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, member.headers);
    const { status, body } = await world.get("/explore", member.headers);
    assert.equal(status, 200);
    assert.match(body, /a\/one/);
    assert.doesNotMatch(body, /b\/two/);
  });

  test("adds what only the primary has to a watchlist, and shows it immediately", async () => {
    const added = await world.send("POST", "/api/me/watchlist", { repositoryId: "2" }, member.headers);
    assert.equal(added.status, 201);
    const { body } = await world.get("/api/me/watchlist", member.headers);
    assert.ok(body.data.some(({ fullName }: { fullName: string }) => fullName === "b/two"));
    const page = await world.get("/watchlist", member.headers);
    assert.equal(page.status, 200);
    assert.match(page.body, /b\/two/);
    const created = await world.send("POST", "/api/watchlists", { name: "mine", ids: ["2"] });
    assert.equal(created.status, 201);
    const { token } = created.body.data;
    const list = await world.get(`/api/watchlists/${token}/repositories`);
    assert.deepEqual(
      list.body.data.map(({ fullName }: { fullName: string }) => fullName),
      ["b/two"],
    );
    assert.match((await world.get(`/watchlists/${token}`)).body, /b\/two/);
    assert.equal((await world.get(`/cards/watchlists/${token}`)).status, 200);
    const removed = await world.send("DELETE", `/api/watchlists/${token}`);
    assert.equal(removed.status, 204);
    assert.equal((await world.get(`/api/watchlists/${token}`)).status, 404);
  });

  test("accepts a key on the next request after it was created, and refuses it after it was revoked", async () => {
    const { id, key } = await createKey(world, member);
    const bearer = { Authorization: `Bearer ${key}` };
    assert.equal((await world.get("/api/repos", bearer)).status, 200);
    assert.equal((await world.get("/account/keys", member.headers)).status, 200);
    assert.equal((await world.send("DELETE", `/api/me/keys/${id}`, undefined, member.headers)).status, 204);
    assert.equal((await world.get("/api/repos", bearer)).status, 401);
  });

  test("follows a request to track from the moment that it was made", async () => {
    const { status, body } = await world.send("POST", "/api/repos/track", { repository: "o/new" });
    assert.equal(status, 202);
    const followed = await world.get(`/api/repos/track/${body.data.id}`);
    assert.deepEqual([followed.status, followed.body.data.state], [200, "WAITING"]);
    assert.equal((await world.get(`/track/${body.data.id}`)).status, 200);
    // One that is tracked already, as only the primary knows.
    const known = await world.send("POST", "/api/repos/track", { repository: "b/two" });
    assert.equal(known.body.data.repository.fullName, "b/two");
  });

  test("serves nothing that was read from a server after reads have moved to another one", async () => {
    const path = "/api/repos?sort=stars";
    const names = async () =>
      (await world.get(path)).body.data.map(({ fullName }: { fullName: string }) => fullName);
    assert.deepEqual(await names(), ["a/one"]);
    // The other server has the same revision, and another list of repositories under it.
    const { rows } = await sql<{ value: number }>`select value from revision`.execute(replica.read);
    await sql`update repositories set name = 'other', name_key = 'a/other'`.execute(replica.write);
    assert.deepEqual(
      (await sql<{ value: number }>`select value from revision`.execute(replica.read)).rows,
      rows,
    );
    world.clock.advance(3_000);
    assert.deepEqual(await names(), ["a/one"]);
    generation++;
    world.clock.advance(3_000);
    assert.deepEqual(await names(), ["a/other"]);
  });

  test("shows operators how far each replica is behind, and which one is read from", async () => {
    const { status, body } = await world.get("/operator", member.headers);
    assert.equal(status, 200);
    assert.match(
      body,
      /db2\.example:5432<\/dt><dd class="words">usable<small[^>]*>3 s behind, read from by this process</,
    );
    assert.match(body, /db3\.example:5432<\/dt><dd class="words">does not respond<\/dd>/);
  });

  test("derives and imports from the primary alone", async () => {
    await updateDerived(world.modules);
    assert.equal((await world.modules.rankings.summary()).repositories, 2);
  });
});
