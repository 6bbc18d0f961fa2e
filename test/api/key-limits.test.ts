import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { createWorld, daily, observation } from "../support/world.js";

onSqliteAndLong("The keys of an account", (engine) => {
  test("together cannot exceed its ceiling, and are told that it is the account's", async () => {
    const world = await createWorld(engine, {
      ...limits("heavy.account=20"),
    });
    await world.record(observation("a/one", daily(1, 2)));
    const account = await addAccount(world.modules.database, "ceiling@example.org");
    let allowed = 0;
    for (let i = 0; i < 5; i++) {
      const { secret } = await world.members.keys.create(account, `key ${i}`);
      for (let request = 0; request < 15; request++) {
        const { status, headers } = await world.get("/api/repos/1/ranks", { "X-API-Key": secret });
        const policy = headers.get("ratelimit-policy");
        if (status === 200) {
          allowed++;
          continue;
        }
        assert.deepEqual([status, policy], [429, '"heavy_account";q=30;w=60']);
      }
    }
    assert.equal(allowed, 30);
  });

  test("mean nothing on pages, which count for their address and refuse no credentials of a proxy", async () => {
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
