import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS } from "../../src/config/limits.js";
import { Callers, networkOf } from "../../src/http/caller.js";
import { accountCeiling, type Caller, Limiter, NETWORK_FACTOR } from "../../src/http/limiter.js";
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

const keyOf = (account: string, key: number): Caller => ({ kind: "key", name: `${account}-${key}`, account });

function limiterOf(limit: number, clock = new ManualClock(0)): Limiter {
  const limits = { ...DEFAULT_LIMITS.default, anonymous: limit, key: limit };
  return new Limiter({ limits: { ...DEFAULT_LIMITS, default: limits }, clock });
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
  member: fc.integer({ min: 0, max: 40 }),
  group: fc.integer({ min: 0, max: 1 }),
  cost: fc.constantFrom(1, 1, 1, 0, 2, 10),
  later: fc.constantFrom(undefined, undefined, -1, 9),
});

const GROUPS = {
  network: {
    callerIn: (group: number, member: number) => callerOf(`2001:db8:${group}:${member.toString(16)}::1`),
    ceilingOf: (limit: number) => limit * NETWORK_FACTOR,
  },
  account: {
    callerIn: (group: number, member: number) => keyOf(`account ${group}`, member % 5),
    ceilingOf: accountCeiling,
  },
} as const;

for (const scope of ["network", "account"] as const)
  test(`decisions are those of two plain models, one for the caller and one for its ${scope}`, () => {
    const { callerIn, ceilingOf } = GROUPS[scope];
    const traces = fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(step, { minLength: 1, maxLength: 120, size: "max" }),
      (limit, steps) => {
        const clock = new ManualClock(0);
        const limiter = limiterOf(limit, clock);
        const own = new TokenBuckets(limit);
        const shared = new TokenBuckets(ceilingOf(limit));
        for (const { waitMs, group, member, cost, later } of steps) {
          clock.advance(waitMs);
          const at = BigInt(clock.monotonic() * 1_000);
          const caller = callerIn(group, member);
          const { kind, name, [scope]: wider = "" } = caller;
          const allowed = own.fits(name, at, cost) && shared.fits(wider, at, cost);
          const counted = allowed ? cost : 0;
          const ownLeft = own.change(name, at, counted, false).remaining;
          const sharedLeft = shared.change(wider, at, counted, false).remaining;
          const decision = limiter.decide(caller, "default", cost);
          assert.deepEqual([decision.allowed, decision.remaining], [allowed, Math.min(ownLeft, sharedLeft)]);
          assert.deepEqual(decision.own, { limit, remaining: ownLeft });
          assert.equal(decision.policy.scope, sharedLeft < ownLeft ? scope : kind);
          assert.equal(decision.retryAfterSeconds > 0, !allowed);
          assert.deepEqual(
            limiter.levels(caller, "default").map(({ policy, remaining }) => [policy.scope, remaining]),
            [
              [kind, ownLeft],
              [scope, sharedLeft],
            ],
          );
          if (later === undefined || !allowed) continue;
          const after = [own.change(name, at, later, false), shared.change(wider, at, later, false)];
          const adjusted = limiter.adjust(caller, "default", later);
          assert.equal(adjusted.remaining, Math.min(...after.map(({ remaining }) => remaining)));
        }
      },
    );
    fc.assert(traces, { numRuns: TRACES });
  });

test("a whole network of 48 bits passes sixteen times what one of 64 does, and is told which of the two is spent", () => {
  const clock = new ManualClock(0);
  const limiter = limiterOf(10, clock);
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
  const limiter = limiterOf(10);
  for (let i = 0; i < 1_000; i++) limiter.decide(callerOf("2001:db8::1"), "default", 1);
  for (let host = 1; host < NETWORK_FACTOR; host++)
    for (let i = 0; i < 10; i++)
      assert.ok(limiter.decide(callerOf(`2001:db8:0:${host}::1`), "default", 1).allowed);
});

test("one busy key leaves the other keys of its account half the limit of one", () => {
  const limiter = limiterOf(10);
  for (let i = 0; i < 1_000; i++) limiter.decide(keyOf("ann", 1), "default", 1);
  for (let i = 0; i < 5; i++) assert.ok(limiter.decide(keyOf("ann", 2), "default", 1).allowed);
});
