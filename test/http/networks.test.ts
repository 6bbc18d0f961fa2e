import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, type Limits } from "../../src/config/limits.js";
import { Callers, networkOf } from "../../src/http/caller.js";
import { type Caller, Limiter, NETWORK_FACTOR } from "../../src/http/limiter.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { TokenBuckets } from "../support/token-buckets.js";

const TRACES = Number(process.env.SIDEREAL_TEST_TRACES ?? 5_000);
const callers = new Callers([]);

function callerOf(address: string): Caller {
  const name = callers.nameOf(address, null);
  const network = networkOf(name);
  return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
}

function limitsOf(limit: number): Limits {
  return { ...DEFAULT_LIMITS, default: { ...DEFAULT_LIMITS.default, anonymous: limit } };
}

test("the network around an address has 48 bits, and an IPv4 address has none", () => {
  assert.equal(networkOf(callers.nameOf("2001:db8:1:2:3:4:5:6", null)), "2001:db8:1::/48");
  assert.equal(networkOf(callers.nameOf("2001:DB8:0001::", null)), "2001:db8:1::/48");
  assert.equal(networkOf(callers.nameOf("::1", null)), "0:0:0::/48");
  for (const address of ["192.0.2.1", "::ffff:192.0.2.1", undefined])
    assert.equal(networkOf(callers.nameOf(address, null)), undefined);
});

const step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 0, max: 5_000 })),
  host: fc.integer({ min: 0, max: 40 }),
  network: fc.integer({ min: 0, max: 1 }),
  cost: fc.constantFrom(1, 1, 1, 0, 2, 10),
  later: fc.constantFrom(undefined, undefined, -1, 9),
});

test("decisions are those of two plain models, one for the address and one for its network", () => {
  const traces = fc.property(
    fc.integer({ min: 1, max: 5 }),
    fc.array(step, { minLength: 1, maxLength: 120, size: "max" }),
    (limit, steps) => {
      const clock = new ManualClock(0);
      const limiter = new Limiter({ limits: limitsOf(limit), clock });
      const own = new TokenBuckets(limit);
      const wide = new TokenBuckets(limit * NETWORK_FACTOR);
      for (const { waitMs, host, network, cost, later } of steps) {
        clock.advance(waitMs);
        const at = BigInt(clock.monotonic() * 1_000);
        const who = callerOf(`2001:db8:${network}:${host.toString(16)}::1`);
        const inside = who.network ?? "";
        const allowed = own.fits(who.name, at, cost) && wide.fits(inside, at, cost);
        const counted = allowed ? cost : 0;
        const left = [own.change(who.name, at, counted, false), wide.change(inside, at, counted, false)];
        const remaining = Math.min(...left.map((one) => one.remaining));
        const told = limiter.decide(who, "default", cost);
        assert.deepEqual([told.allowed, told.remaining], [allowed, remaining]);
        assert.ok(told.policy.limit === limit || told.policy.limit === limit * NETWORK_FACTOR);
        assert.equal(told.retryAfterSeconds > 0, !allowed);
        if (later === undefined || !allowed) continue;
        const after = [own.change(who.name, at, later, false), wide.change(inside, at, later, false)];
        const adjusted = limiter.adjust(who, "default", later);
        assert.equal(adjusted.remaining, Math.min(...after.map((one) => one.remaining)));
      }
    },
  );
  fc.assert(traces, { numRuns: TRACES });
});

test("a whole network of 48 bits passes sixteen times what one of 64 does, and is told which of the two is spent", () => {
  const clock = new ManualClock(0);
  const limiter = new Limiter({ limits: limitsOf(10), clock });
  let passed = 0;
  for (let host = 0; host < 5_000; host++) {
    const told = limiter.decide(callerOf(`2001:db8:0:${host.toString(16)}::1`), "default", 1);
    if (told.allowed) passed++;
    else assert.deepEqual([told.policy.limit, told.remaining], [160, 0]);
  }
  assert.equal(passed, 10 * NETWORK_FACTOR);
  const other = limiter.decide(callerOf("2001:db8:1::1"), "default", 1);
  assert.deepEqual([other.allowed, other.policy.limit, other.remaining], [true, 10, 9]);
  const refused = limiter.decide(callerOf("2001:db8:0:ffff::1"), "default", 1);
  clock.advance(refused.retryAfterSeconds * 1_000);
  assert.equal(limiter.decide(callerOf("2001:db8:0:ffff::1"), "default", 1).allowed, true);
});

test("one busy network of 64 bits leaves its neighbours theirs", () => {
  const limiter = new Limiter({
    limits: limitsOf(10),
    clock: new ManualClock(0),
  });
  for (let i = 0; i < 1_000; i++) limiter.decide(callerOf("2001:db8::1"), "default", 1);
  for (let host = 1; host < NETWORK_FACTOR; host++)
    for (let i = 0; i < 10; i++)
      assert.ok(limiter.decide(callerOf(`2001:db8:0:${host}::1`), "default", 1).allowed);
});
