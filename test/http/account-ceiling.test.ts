import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, type Limits } from "../../src/config/limits.js";
import { accountCeiling, type Caller, Limiter } from "../../src/http/limiter.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { TokenBuckets } from "../support/token-buckets.js";

const TRACES = Number(process.env.SIDEREAL_TEST_TRACES ?? 2_000);

function limitsOf(key: number): Limits {
  return { ...DEFAULT_LIMITS, default: { ...DEFAULT_LIMITS.default, key } };
}

const keyOf = (account: string, key: number): Caller => ({ kind: "key", name: `${account}-${key}`, account });

const step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 0, max: 5_000 })),
  account: fc.constantFrom("ann", "ben"),
  key: fc.integer({ min: 0, max: 4 }),
  cost: fc.constantFrom(1, 1, 1, 0, 2, 10),
  later: fc.constantFrom(undefined, undefined, -1, 9),
});

test("decisions are those of two plain models, one for the key and one for its account", () => {
  const traces = fc.property(
    fc.integer({ min: 1, max: 8 }),
    fc.array(step, { minLength: 1, maxLength: 120, size: "max" }),
    (limit, steps) => {
      const clock = new ManualClock(0);
      const limiter = new Limiter({ limits: limitsOf(limit), clock });
      const own = new TokenBuckets(limit);
      const shared = new TokenBuckets(accountCeiling(limit));
      for (const { waitMs, account, key, cost, later } of steps) {
        clock.advance(waitMs);
        const at = BigInt(clock.monotonic() * 1_000);
        const caller = keyOf(account, key);
        const allowed = own.fits(caller.name, at, cost) && shared.fits(account, at, cost);
        const counted = allowed ? cost : 0;
        const ownLeft = own.change(caller.name, at, counted, false).remaining;
        const sharedLeft = shared.change(account, at, counted, false).remaining;
        const decision = limiter.decide(caller, "default", cost);
        assert.deepEqual([decision.allowed, decision.remaining], [allowed, Math.min(ownLeft, sharedLeft)]);
        assert.deepEqual(decision.own, { limit, remaining: ownLeft });
        assert.equal(decision.policy.scope, sharedLeft < ownLeft ? "account" : "key");
        assert.deepEqual(
          limiter.levels(caller, "default").map(({ policy, remaining }) => [policy.scope, remaining]),
          [
            ["key", ownLeft],
            ["account", sharedLeft],
          ],
        );
        if (later === undefined || !allowed) continue;
        const after = [own.change(caller.name, at, later, false), shared.change(account, at, later, false)];
        const adjusted = limiter.adjust(caller, "default", later);
        assert.equal(adjusted.remaining, Math.min(...after.map(({ remaining }) => remaining)));
      }
    },
  );
  fc.assert(traces, { numRuns: TRACES });
});

test("one busy key leaves the other keys of its account half the limit of one", () => {
  const limiter = new Limiter({
    limits: limitsOf(10),
    clock: new ManualClock(0),
    maxCallers: 1_024,
  });
  for (let i = 0; i < 1_000; i++) limiter.decide(keyOf("ann", 1), "default", 1);
  for (let i = 0; i < 5; i++) assert.ok(limiter.decide(keyOf("ann", 2), "default", 1).allowed);
});
