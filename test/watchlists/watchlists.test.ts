import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { UnknownRepositories, type WatchlistAccess } from "../../src/watchlists/store.js";
import { addAccount } from "../support/accounts.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, observation, type World } from "../support/world.js";

onBothEngines("A watchlist", (engine) => {
  let world: World;
  let accounts = 0;
  before(async () => {
    world = await createWorld(engine);
    await world.record(...Array.from({ length: 520 }, (_, i) => observation(`some/r${i}`)));
  });

  const ofToken = async (): Promise<WatchlistAccess> => {
    const { token } = await world.modules.watchlists.create("Mine", []);
    return { token };
  };
  const ofAccount = async (): Promise<{ accountId: string }> => {
    const accountId = await addAccount(world.modules.database, `u${accounts++}@example.org`);
    return { accountId };
  };
  const idsOf = async (access: WatchlistAccess) =>
    (await world.modules.watchlists.get(access)).items.map((item) => item.repositoryId);

  for (const [owner, open] of [
    ["nobody", ofToken],
    ["an account", ofAccount],
  ] as const) {
    test(`of ${owner} keeps repositories in the order in which they were added, each once`, async () => {
      const { watchlists } = world.modules;
      const access = await open();
      assert.equal((await watchlists.add(access, [3, 1])).added, 2);
      assert.equal((await watchlists.add(access, [1, 2, 3])).added, 1);
      await watchlists.removeItems(access, [3]);
      assert.equal((await watchlists.add(access, [3])).added, 1);
      assert.deepEqual(await idsOf(access), [1, 2, 3]);
      assert.equal(await watchlists.size(access), 3);
      assert.deepEqual([...(await watchlists.contains(access, [2, 3, 4]))].sort(), [2, 3]);
      assert.deepEqual(await watchlists.contains(access, []), new Set());
    });

    test(`of ${owner} holds at most 500, however many come at the same time, and takes all or none`, async () => {
      const { watchlists } = world.modules;
      const access = await open();
      await watchlists.add(
        access,
        Array.from({ length: 499 }, (_, i) => i + 1),
      );
      await assert.rejects(watchlists.add(access, [500, 501]), { code: "LIMIT_REACHED" });
      const ids = Array.from({ length: 12 }, (_, i) => 500 + i);
      const added = await Promise.allSettled(ids.map((id) => watchlists.add(access, [id])));
      assert.equal(added.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal(await watchlists.size(access), 500);
    });

    test(`of ${owner} refuses repositories that do not exist, and says which`, async () => {
      const { watchlists } = world.modules;
      const access = await open();
      await assert.rejects(watchlists.add(access, [1, 9_999, 2, 0]), (error) => {
        assert.ok(error instanceof UnknownRepositories);
        assert.deepEqual(error.indexes, [1, 3]);
        return true;
      });
      assert.deepEqual(await idsOf(access), []);
    });

    test(`of ${owner} gets a new version with each change, and only then`, async () => {
      const { watchlists } = world.modules;
      const access = await open();
      const { version } = (await watchlists.add(access, [1])).watchlist;
      assert.equal((await watchlists.add(access, [1])).watchlist.version, version);
      assert.equal((await watchlists.removeItems(access, [2])).version, version);
      assert.equal((await watchlists.rename(access, "Other")).version, version + 1);
      await assert.rejects(
        watchlists.rename(access, "Third", (current) => current === version),
        { code: "PRECONDITION_FAILED" },
      );
      assert.equal((await watchlists.get(access)).name, "Other");
    });
  }

  test("of an account exists before anything is saved, and is stored with the first change", async () => {
    const { watchlists, database } = world.modules;
    const access = await ofAccount();
    assert.deepEqual(await watchlists.get(access), {
      id: 0,
      name: "Watchlist",
      items: [],
      canEdit: true,
      version: 1,
      createdAt: 0,
      updatedAt: 0,
      expiresAt: undefined,
    });
    assert.deepEqual([await watchlists.idOf(access), await watchlists.size(access)], [0, 0]);
    assert.equal((await watchlists.contains(access, [1])).size, 0);
    await Promise.all([1, 2, 3, 4].map((id) => watchlists.add(access, [id])));
    assert.deepEqual((await idsOf(access)).sort(), [1, 2, 3, 4]);
    const rows = await database.read
      .selectFrom("watchlists")
      .select("id")
      .where("account_id", "=", access.accountId)
      .execute();
    assert.deepEqual(
      rows.map((row) => row.id),
      [await watchlists.idOf(access)],
    );
  });

  test("of an account is deleted with it, and cannot be changed afterwards", async () => {
    const { watchlists, database } = world.modules;
    const access = await ofAccount();
    await watchlists.add(access, [1, 2]);
    const id = await watchlists.idOf(access);
    await database.durable.deleteFrom("accounts").where("id", "=", access.accountId).execute();
    for (const table of ["watchlists", "watchlist_items"] as const) {
      const column = table === "watchlists" ? "id" : "watchlist_id";
      const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(
        database.read,
      );
      assert.deepEqual(rows, [], table);
    }
    await assert.rejects(watchlists.add(access, [1]), { code: "UNAUTHENTICATED" });
  });

  test("is deleted with its items, and touches no other list", async () => {
    const { watchlists, database } = world.modules;
    const [mine, theirs] = [await ofToken(), await ofAccount()];
    await watchlists.add(mine, [1]);
    await watchlists.add(theirs, [1]);
    const id = await watchlists.idOf(mine);
    await watchlists.remove(mine);
    await assert.rejects(watchlists.get(mine), { code: "NOT_FOUND" });
    const items = await database.read
      .selectFrom("watchlist_items")
      .select("repository_id")
      .where("watchlist_id", "=", id)
      .execute();
    assert.deepEqual(items, []);
    assert.deepEqual(await idsOf(theirs), [1]);
  });

  test("has either an owner or tokens: the database accepts nothing else", async () => {
    const { database } = world.modules;
    const { accountId } = await ofAccount();
    const values = { name: "x", version: 1, created_at: 0, updated_at: 0 };
    for (const keys of [
      {},
      { account_id: accountId, token_hash: "a" },
      { account_id: accountId, token_hash: "a", share_token_hash: "b" },
      { token_hash: "a" },
    ])
      await assert.rejects(
        database.durable
          .insertInto("watchlists")
          .values({ ...values, ...keys })
          .execute(),
      );
  });
});
