import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount } from "../support/accounts.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, observation } from "../support/world.js";

onBothEngines("The keys of an account", (engine) => {
  test("together cannot exceed its ceiling, and are told that it is the account's", async () => {
    const world = await createWorld(engine, {
      SIDEREAL_LIMIT_HEAVY_KEY: "20",
      SIDEREAL_LIMIT_HEAVY_ACCOUNT: "",
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
});
