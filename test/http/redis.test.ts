import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import { SharedRedis } from "../../src/http/redis.js";
import { createLog } from "../../src/lib/log.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { ManualClock } from "../support/manual-clock.js";

test("connections that fail are not kept", async () => {
  const made: WeakRef<object>[] = [];
  class Refused extends Redis {
    constructor() {
      super({ lazyConnect: true });
      made.push(new WeakRef(this));
    }
    override connect = () => Promise.reject(new Error("refused"));
  }
  const clock = new ManualClock(0);
  const options = { url: "redis://127.0.0.1", secret: "a secret", clock, log: createLog("silent") };
  const redis = await new SharedRedis(Refused as typeof Redis, options).open();
  for (let retries = 0; retries < 50; retries++) {
    await clock.whenSleeping(() => 1);
    clock.advance(1_000);
  }
  await setImmediate();
  collectGarbage();
  const kept = made.filter((one) => one.deref() !== undefined).length;
  assert.ok(made.length > 50 && kept <= 2, `${kept} of ${made.length}`);
  redis.close();
});
