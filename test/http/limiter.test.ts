import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, type Limits } from "../../src/config/limits.js";
import { type Caller, Limiter, MOST_OWED, WINDOW_SECONDS } from "../../src/http/limiter.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { TokenBuckets } from "../support/token-buckets.js";

/** 100,000 traces are tried with SIDEREAL_TEST_TRACES=100000. */
const TRACES = Number(process.env.SIDEREAL_TEST_TRACES ?? 5_000);
const WINDOW_MS = WINDOW_SECONDS * 1_000;

/** Every bucket and kind of caller with the same limit. */
function all(limit: number): Limits {
  const kinds = { anonymous: limit, signed_in: limit, key: limit };
  return { ...DEFAULT_LIMITS, default: kinds, search: kinds, heavy: kinds, write: kinds, auth: kinds };
}

const named = (name: string): Caller => ({ kind: "anonymous", name });
const address = (i: number): Caller => named(`${i >>> 24}.${(i >>> 16) & 255}.${(i >>> 8) & 255}.${i & 255}`);

const step = fc.record({
  waitMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 0, max: 3 * WINDOW_MS }),
  ),
  caller: fc.integer({ min: 0, max: 4 }),
  cost: fc.constantFrom(1, 1, 1, 0, 2, 10, 500),
  later: fc.constantFrom(undefined, undefined, -1, 0, 9),
  wall: fc.constantFrom(0, 0, HOUR_MS, -HOUR_MS),
});

test("decisions are those of a plain model, whatever the wall clock does", () => {
  const traces = fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.array(step, { minLength: 1, maxLength: 60, size: "max" }),
    (limit, steps) => {
      const clock = new ManualClock(Date.UTC(2026, 0, 1));
      const limiter = new Limiter({ limits: all(limit), clock, maxCallers: 1_024 });
      const model = new TokenBuckets(limit);
      for (const { waitMs, caller, cost, later, wall } of steps) {
        clock.advance(waitMs);
        clock.set(clock.now() + wall);
        const at = BigInt(clock.monotonic() * 1_000);
        const who = named(String(caller));
        const expected = model.change(who.name, at, cost, true);
        const peeked = limiter.peek(who, "default", cost);
        const { allowed, remaining, retryAfterSeconds, resetSeconds } = limiter.decide(who, "default", cost);
        assert.deepEqual([peeked.allowed, peeked.retryAfterSeconds], [allowed, retryAfterSeconds]);
        assert.deepEqual({ allowed, remaining }, expected);
        assert.ok(
          Math.max(retryAfterSeconds, resetSeconds) <= MOST_OWED * WINDOW_SECONDS + 1,
          "blocked too long",
        );
        if (later === undefined || !allowed) continue;
        const adjusted = limiter.adjust(who, "default", later);
        assert.equal(adjusted.remaining, model.change(who.name, at, later, false).remaining);
      }
    },
  );
  fc.assert(traces, { numRuns: TRACES });
});

test("after remaining = n exactly n more pass at once, and after the told wait the next one does", () => {
  const told = fc.property(
    fc.integer({ min: 1, max: 1_000 }),
    fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 30 })), {
      maxLength: 20,
    }),
    (limit, before) => {
      const clock = new ManualClock(0);
      const limiter = new Limiter({ limits: all(limit), clock, maxCallers: 1_024 });
      const ask = () => limiter.decide(named("a"), "search", 1);
      for (const [waitMs, requests] of before) {
        clock.advance(waitMs);
        for (let i = 0; i < requests; i++) ask();
      }
      const { remaining } = limiter.decide(named("a"), "search", 0);
      for (let left = remaining - 1; left >= 0; left--) {
        const { allowed, remaining, moreInSeconds } = ask();
        assert.deepEqual([allowed, remaining], [true, left]);
        assert.ok(moreInSeconds >= 1);
      }
      const refused = ask();
      assert.equal(refused.allowed, false);
      assert.ok(refused.retryAfterSeconds >= refused.moreInSeconds);
      clock.advance(refused.retryAfterSeconds * 1_000);
      assert.equal(ask().allowed, true);
      clock.advance(ask().resetSeconds * 1_000);
      assert.equal(limiter.decide(named("a"), "search", 0).remaining, limit);
    },
  );
  fc.assert(told, { numRuns: 300 });
});

test("in any minute at most twice the limit passes, and in the long run the limit", () => {
  const clock = new ManualClock(0);
  const limiter = new Limiter({ limits: all(20), clock, maxCallers: 1_024 });
  let passed = 0;
  for (let ms = 0; ms < 10 * WINDOW_MS; ms += 100) {
    if (limiter.decide(named("greedy"), "heavy", 1).allowed) passed++;
    if (ms < WINDOW_MS) assert.ok(passed <= 40);
    clock.advance(100);
  }
  assert.ok(passed >= 200 && passed <= 220, String(passed));
});

test("buckets, kinds of callers and callers are counted apart", () => {
  const limiter = new Limiter({
    limits: all(2),
    clock: new ManualClock(0),
    maxCallers: 1_024,
  });
  const first = (caller: Caller, bucket: "default" | "heavy" = "default") =>
    limiter.decide(caller, bucket, 1).remaining;
  assert.deepEqual(
    [
      first(named("a")),
      first(named("b")),
      first({ kind: "key", name: "a" }),
      first({ kind: "signed_in", name: "a" }),
      first(named("a"), "heavy"),
      first(named("a")),
    ],
    [1, 1, 1, 1, 1, 0],
  );
});

test("a cost above the limit counts as the limit, and nothing counts beyond twice the limit", () => {
  const clock = new ManualClock(0);
  const limiter = new Limiter({ limits: all(5), clock, maxCallers: 1_024 });
  assert.equal(limiter.decide(named("a"), "default", 10).allowed, true);
  for (let i = 0; i < 100; i++) limiter.adjust(named("a"), "default", 9);
  const refused = limiter.decide(named("a"), "default", 1);
  assert.deepEqual([refused.allowed, refused.retryAfterSeconds, refused.resetSeconds], [false, 72, 120]);
  assert.equal(limiter.decide(named("a"), "default", 0).allowed, true);
});

test("a limiter on a clock that runs back blocks nobody longer than two windows", () => {
  let ms = 2 * HOUR_MS;
  const clock = { now: () => ms, monotonic: () => ms, sleep: () => Promise.resolve() };
  const limiter = new Limiter({ limits: all(1), clock, maxCallers: 1_024 });
  assert.equal(limiter.decide(named("a"), "default", 1).allowed, true);
  ms -= HOUR_MS;
  assert.equal(limiter.decide(named("a"), "default", 1).retryAfterSeconds, 120);
});

test("after a flood of a million addresses an offender is still limited, and honest callers are not", () => {
  const clock = new ManualClock(0);
  const limiter = new Limiter({ limits: DEFAULT_LIMITS, clock });
  const offenders = Array.from({ length: 100 }, (_, i) => named(`offender ${i}`));
  for (const offender of offenders) while (limiter.decide(offender, "default", 1).allowed);
  const honest = named("honest");
  limiter.decide(honest, "default", 1);
  // At one moment, the worst that can be: nobody's allowance fills while it lasts.
  for (let i = 0; i < 1_000_000; i++)
    assert.ok(limiter.decide(address(i), "default", 1).allowed, "a newcomer");
  for (const offender of offenders) assert.equal(limiter.decide(offender, "default", 1).allowed, false);
  assert.ok(limiter.decide(honest, "default", 1).remaining >= 90);
});

test("a full table makes limits tighter, never looser: who is forgotten gains nothing", () => {
  const clock = new ManualClock(0);
  const limiter = new Limiter({ limits: all(10), clock, maxCallers: 64 });
  const passed = new Map<number, number>();
  for (let i = 0; i < 40_000; i++) {
    const who = (i * 7_919) % 1_000;
    if (limiter.decide(address(who), "default", 1).allowed) passed.set(who, (passed.get(who) ?? 0) + 1);
  }
  for (const count of passed.values()) assert.ok(count <= 10);
  clock.advance(WINDOW_MS);
  for (let who = 0; who < 1_000; who += 100)
    assert.equal(limiter.decide(address(who), "default", 1).allowed, true, "all is forgiven after a window");
});
