import assert from "node:assert/strict";
import { test } from "node:test";
import { DailyQuotas } from "../../src/accounts/quotas.js";
import { startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { createList, LISTED, reads } from "../support/watchlists.js";
import { createWorld } from "../support/world.js";

const YEAR_MS = 365 * DAY_MS;

onSqliteAndLong("A watchlist without an owner", (engine) => {
  const start = async () => {
    const world = await createWorld(engine);
    await world.record(...LISTED.slice(0, 3));
    const { watchlists } = world.modules;
    const expire = () => watchlists.removeExpired(world.clock.now(), new AbortController().signal);
    /** Waits a year but an hour, and then two hours. */
    const later = async (open: () => Promise<unknown>) => {
      world.clock.advance(YEAR_MS - HOUR_MS);
      await open();
      await watchlists.flush();
      world.clock.advance(2 * HOUR_MS);
      return expire();
    };
    return { world, watchlists, later, expire };
  };

  test("is deleted with its items when nobody has opened it for a year, and that of an account is kept", async () => {
    const { world, watchlists, later } = await start();
    const accountId = await addAccount(world.modules.database, "ann@example.org");
    await watchlists.add({ accountId }, [1, 2]);
    const { token } = await createList(world, { ids: ["1", "2"] });
    assert.equal(await later(async () => {}), 1);
    assert.equal((await world.get(`/api/watchlists/${token}`)).status, 404);
    assert.equal(await watchlists.size({ accountId }), 2);
    const { read } = world.modules.database;
    assert.equal((await read.selectFrom("watchlist_items").select("repository_id").execute()).length, 2);
  });

  for (const [opening, open] of [
    ["the token", (world, { token }) => world.get(`/api/watchlists/${token}`)],
    ["the share token", (world, { shareToken }) => world.get(`/api/watchlists/${shareToken}`)],
    ["a list of its repositories", (world, { token }) => world.get(`/api/watchlists/${token}/repositories`)],
    ["its page", (world, { shareToken }) => world.request(`/watchlists/${shareToken}`)],
    [
      "a change of it",
      (world, { token }) => world.send("POST", `/api/watchlists/${token}/items`, { repositoryId: "3" }),
    ],
  ] satisfies [
    string,
    (
      world: Awaited<ReturnType<typeof createWorld>>,
      tokens: { token: string; shareToken: string },
    ) => Promise<unknown>,
  ][]) {
    test(`is kept for another year by ${opening}`, async () => {
      const { world, later, expire } = await start();
      const tokens = await createList(world, { ids: ["1"] });
      assert.equal(await later(() => open(world, tokens)), 0);
      world.clock.advance(YEAR_MS);
      assert.equal(await expire(), 1);
    });
  }

  test("is kept by a change itself, before anything is written in the background", async () => {
    const { world, watchlists, expire } = await start();
    const { token } = await createList(world, { ids: ["1"] });
    world.clock.advance(YEAR_MS - HOUR_MS);
    await watchlists.add({ token }, [3]);
    const rows = world.modules.database.read.selectFrom("watchlists").select("opened_at");
    assert.equal((await rows.executeTakeFirst())?.opened_at, world.clock.now());
    world.clock.advance(2 * HOUR_MS);
    assert.equal(await expire(), 0);
    assert.equal(await watchlists.size({ token }), 2);
  });

  test("is not found after its year, even before it is deleted", async () => {
    const { world, watchlists, expire } = await start();
    const { token, shareToken } = await createList(world, { ids: ["1"] });
    world.clock.advance(YEAR_MS + 1);
    for (const path of [token, shareToken, `${token}/repositories`])
      assert.equal((await world.get(`/api/watchlists/${path}`)).status, 404);
    const change = await world.send("POST", `/api/watchlists/${token}/items`, { repositoryId: "3" });
    assert.equal(change.status, 404);
    await watchlists.flush();
    assert.equal(await expire(), 1);
  });

  test("is opened by a write once a day, not by every request", async () => {
    const { world, watchlists } = await start();
    const { token } = await createList(world, { ids: ["1"] });
    const openedAt = async () =>
      (await world.modules.database.read.selectFrom("watchlists").select("opened_at").execute())[0]
        ?.opened_at;
    const created = await openedAt();
    world.clock.advance(DAY_MS - 1);
    await reads(world, token);
    await watchlists.flush();
    assert.equal(await openedAt(), created);
    world.clock.advance(1);
    await reads(world, token);
    await watchlists.flush();
    assert.equal(await openedAt(), world.clock.now());
  });

  test("says on its page when it would be deleted", async () => {
    const { world } = await start();
    const { shareToken } = await createList(world, { ids: ["1"] });
    const html = await (await world.request(`/watchlists/${shareToken}`)).text();
    assert.match(html.replaceAll(/<[^>]*>/g, ""), /Expires 30 Apr 2027 unless opened/);
  });

  test("is deleted with others, a twentieth of all in a run and ten in a transaction", async () => {
    const { world, expire } = await start();
    const now = world.clock.now();
    const row = { name: "one of many", version: 1, created_at: now, updated_at: now, opened_at: now };
    const rows = Array.from({ length: 401 }, (_, i) => ({
      ...row,
      token_hash: `token ${i}`,
      share_token_hash: `share ${i}`,
    }));
    await world.modules.database.durable.insertInto("watchlists").values(rows).execute();
    world.clock.advance(YEAR_MS + 1);
    const counted = countStatements(world.modules.database);
    const { Watchlists } = await import("../../src/watchlists/watchlists.js");
    const watchlists = new Watchlists({
      database: counted.database,
      clock: world.clock,
      log: createLog("silent"),
      quotas: new DailyQuotas(accountsContext(world.modules.database, world.clock)),
    });
    assert.equal(await watchlists.removeExpired(world.clock.now(), new AbortController().signal), 21);
    // The count of lists, and three batches.
    assert.equal(counted.statements(), 1 + 3);
    assert.equal(await expire(), 19);
  });

  test("is deleted by a process that only serves", async () => {
    const { world } = await start();
    await createList(world);
    world.clock.advance(YEAR_MS + 1);
    const { modules, clock } = world;
    await modules.deletionClock.force();
    const config = loadConfig({
      SIDEREAL_PORT: "0",
      SIDEREAL_DATA_DIR: ":memory:",
    });
    const before = clock.sleeping;
    const service = await startService({ config, clock, log: createLog("silent") }, modules);
    await clock.whenSleeping(() => before + 1);
    clock.advance(HOUR_MS);
    const left = () => modules.database.read.selectFrom("watchlists").select("id").execute();
    while ((await left()).length > 0) await new Promise((resolve) => setImmediate(resolve));
    await service.stop();
  });
});
