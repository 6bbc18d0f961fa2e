import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamFailure } from "../../src/forges/failures.js";
import type { QuotaReport } from "../../src/forges/quota.js";
import { type Lease, Quota } from "../../src/forges/quota.js";
import { type Clock, DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { fc } from "../support/properties.js";

const START = Date.UTC(2026, 0, 1);

/** A clock whose wall time can be set while the monotonic time continues. */
class JumpingClock implements Clock {
  readonly sleep = () => Promise.resolve();
  #wall = START;
  #monotonic = 1000;
  now = () => this.#wall;
  monotonic = () => this.#monotonic;
  advance(ms: number): void {
    this.#wall += ms;
    this.#monotonic += ms;
  }
  jump(ms: number): void {
    this.#wall += ms;
  }
}

function build(tokens: string[] = []) {
  const clock = new JumpingClock();
  const quota = new Quota({ tokens, clock });
  const answer = (report: QuotaReport, resource = "core"): Lease => {
    const lease = quota.take({ resource });
    quota.learn(lease, report);
    return lease;
  };
  return { clock, quota, answer };
}

/** Takes a lease: null on success, otherwise when to retry. */
function takeOrUntil(quota: Quota, resource = "core"): number | null {
  try {
    quota.take({ resource });
    return null;
  } catch (error) {
    assert.ok(error instanceof UpstreamFailure, String(error));
    assert.equal(error.kind, "quota");
    return error.until;
  }
}

test("without tokens there is one anonymous entry", () => {
  const { quota } = build();
  const { token, label } = quota.take({ resource: "core" });
  assert.deepEqual({ token, label }, { token: null, label: "anonymous" });
  assert.deepEqual(quota.list(), [
    {
      token: "anonymous",
      resource: "core",
      limit: null,
      remaining: null,
      resetAt: null,
      blockedUntil: null,
      blockReason: null,
      blockMessage: null,
    },
  ]);
});

test("tokens without known limits take turns", () => {
  const { quota } = build(["a", "b", "c"]);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => quota.take({ resource: "core" }).label),
    ["#1", "#2", "#3", "#1", "#2"],
  );
});

test("the token with most quota left goes first, separately for each resource", () => {
  const { quota } = build(["a", "b"]);
  const resetAt = START + HOUR_MS;
  quota.learn(quota.take({ resource: "core" }), { limit: 100, remaining: 10, resetAt });
  quota.learn(quota.take({ resource: "core" }), { limit: 100, remaining: 50, resetAt });
  for (let i = 0; i < 40; i++) assert.equal(quota.take({ resource: "core" }).token, "b");
  assert.equal(quota.take({ resource: "core" }).token, "a");
  assert.equal(
    quota.take({ resource: "search" }).token,
    "b",
    "of search nothing is known, and b was used less lately",
  );
});

test("nothing is sent between using up the quota and its reset", () => {
  const { clock, quota, answer } = build(["a"]);
  answer({ limit: 60, remaining: 0, resetAt: START + HOUR_MS });
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
  assert.equal(quota.readyAt({ resource: "core" }), START + HOUR_MS);
  assert.ok(quota.readyAt({ resource: "search" }) <= START, "another resource is not concerned");
  clock.advance(HOUR_MS - 1);
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
  clock.advance(1);
  assert.equal(quota.list()[0]?.remaining, 60);
  assert.equal(takeOrUntil(quota), null);
});

test("a request that costs more than is left waits, unless it costs more than the whole limit", () => {
  const { quota, answer } = build(["a"]);
  answer({ limit: 10, remaining: 3, resetAt: START + HOUR_MS });
  assert.throws(() => quota.take({ resource: "core", cost: 4 }), UpstreamFailure);
  quota.take({ resource: "core", cost: 3 });
  const whole = build(["a"]);
  whole.answer({ limit: 10, remaining: 10, resetAt: START + HOUR_MS });
  whole.quota.take({ resource: "core", cost: 11 });
});

test("a block applies to the token for all resources, and is never shortened", () => {
  const { clock, quota, answer } = build(["a", "b"]);
  assert.equal(answer({ blockedUntil: START + 60_000 }).token, "a");
  for (let i = 0; i < 3; i++) assert.equal(answer({}, "search").token, "b");
  const lease = quota.take({ resource: "core" });
  quota.learn(lease, { blockedUntil: START + 90_000 });
  quota.learn(lease, { blockedUntil: START + 1000 });
  assert.equal(takeOrUntil(quota), START + 60_000, "the one that is free first");
  clock.advance(60_000);
  assert.equal(quota.take({ resource: "core" }).token, "a");
});

test("a rejected token is tried by one request after 1, 5 and 15 minutes, the others continue", () => {
  const { clock, quota, answer } = build(["a", "b"]);
  const late = quota.take({ resource: "core" });
  assert.equal(answer({}).token, "b");
  assert.equal(answer({ isRejected: true }).token, "a");
  quota.learn(late, { isRejected: true });
  for (let i = 0; i < 5; i++) assert.equal(answer({}).token, "b");
  answer({ isRejected: true });
  for (const minutes of [1, 5, 15, 15, 15]) {
    assert.equal(takeOrUntil(quota), clock.now() + minutes * 60_000);
    clock.advance(minutes * 60_000);
    for (const token of ["a", "b"]) assert.equal(answer({ isRejected: true }).token, token);
  }
  quota.retryRejected();
  assert.deepEqual([answer({ isRejected: false }).token, answer({ isRejected: true }).token], ["a", "b"]);
  assert.equal(answer({ isRejected: true }).token, "a");
  assert.equal(takeOrUntil(quota), clock.now() + 60_000, "it worked in between");
});

test("a rejected token is tried immediately once operators have entered tokens", () => {
  const { quota, answer } = build(["a"]);
  answer({ isRejected: true });
  assert.equal(takeOrUntil(quota), START + 60_000);
  quota.retryRejected();
  assert.equal(takeOrUntil(quota), null);
});

test("free responses use no quota, missing ones do", () => {
  const { quota, answer } = build(["a"]);
  const report = { limit: 5, remaining: 3, resetAt: START + HOUR_MS };
  for (let i = 0; i < 20; i++) answer(report);
  assert.equal(quota.list()[0]?.remaining, 3);
  for (let i = 0; i < 3; i++) answer({});
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
});

test("a response that is late raises no count within a period, and the next period has its own", () => {
  const { clock, quota, answer } = build();
  const resetAt = START + HOUR_MS;
  for (const remaining of [7, 3, 5]) answer({ limit: 10, remaining, resetAt });
  assert.equal(quota.list()[0]?.remaining, 3);
  clock.advance(HOUR_MS);
  answer({ limit: 10, remaining: 9, resetAt: resetAt + HOUR_MS });
  assert.equal(quota.list()[0]?.remaining, 9);
});

test("a count without a reset time is valid for a minute", () => {
  const { quota, answer } = build(["a"]);
  answer({ remaining: 0 });
  assert.equal(takeOrUntil(quota), START + 60_000);
});

test("leases that are never returned stop counting as in flight", () => {
  const { clock, quota, answer } = build(["a"]);
  answer({ limit: 10, remaining: 10, resetAt: START + HOUR_MS });
  for (let i = 0; i < 4; i++) quota.take({ resource: "core" });
  clock.advance(10 * 60_000);
  quota.learn(quota.take({ resource: "core" }), { limit: 10, remaining: 5, resetAt: START + HOUR_MS });
  assert.equal(quota.list()[0]?.remaining, 5);
});

test("invalid reports are ignored", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 60]) {
    const { quota, answer } = build(["a"]);
    answer({ limit: value, remaining: value, resetAt: Number.NaN, blockedUntil: Number.POSITIVE_INFINITY });
    assert.equal(takeOrUntil(quota), null);
    assert.equal(quota.list()[0]?.remaining, null);
  }
});

test("setting the clock makes no wait longer or shorter than the forge demanded", () => {
  for (const jump of [-HOUR_MS, HOUR_MS, 400 * DAY_MS, -400 * DAY_MS]) {
    for (const report of [
      { blockedUntil: START + 60_000 },
      { remaining: 0, limit: 5, resetAt: START + 60_000 },
    ]) {
      const { clock, quota, answer } = build(["a"]);
      answer(report);
      clock.jump(jump);
      assert.equal(takeOrUntil(quota), clock.now() + 60_000);
      clock.advance(59_999);
      assert.notEqual(takeOrUntil(quota), null);
      clock.advance(1);
      assert.equal(takeOrUntil(quota), null);
    }
  }
});

/** A forge with an hourly limit. */
class CountingForge {
  readonly used = new Map<string | null, { period: number; count: number }>();
  readonly #limit: number;
  readonly #clock: Clock;
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }
  /** The report for a request that arrives now. */
  ask(token: string | null): QuotaReport {
    const period = Math.floor(this.#clock.monotonic() / HOUR_MS);
    const known = this.used.get(token);
    const count = known?.period === period ? known.count + 1 : 1;
    this.used.set(token, { period, count });
    assert.ok(count <= this.#limit, `request ${count} of ${this.#limit}`);
    const resetIn = (period + 1) * HOUR_MS - this.#clock.monotonic();
    return { limit: this.#limit, remaining: this.#limit - count, resetAt: this.#clock.now() + resetIn };
  }
}

test("a counting forge never sees a request too many, in any order of responses, and tokens are used evenly", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 8, max: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.nat({ max: 300_000 }), fc.nat({ max: 7 }), fc.boolean()), { maxLength: 200 }),
      (limit, tokens, steps) => {
        const clock = new JumpingClock();
        const names = Array.from({ length: tokens }, (_, i) => `t${i}`);
        const quota = new Quota({ tokens: names, clock });
        const forge = new CountingForge(limit, clock);
        const inFlight: { lease: Lease; report: QuotaReport }[] = [];
        for (const [gap, pick, mayAnswer] of steps) {
          clock.advance(mayAnswer ? gap : 0);
          const [next] =
            mayAnswer || inFlight.length > 7 ? inFlight.splice(pick % (inFlight.length || 1), 1) : [];
          if (next !== undefined) quota.learn(next.lease, next.report);
          if (quota.readyAt({ resource: "core" }) > clock.now()) continue;
          const lease = quota.take({ resource: "core" });
          inFlight.push({ lease, report: forge.ask(lease.token) });
        }
      },
    ),
  );
});

test("a wait names the block that decides it, also for a resource that was not used yet", () => {
  const { quota, answer } = build(["a"]);
  answer({ limit: 10, remaining: 5, resetAt: START + HOUR_MS });
  answer({ blockedUntil: START + 60_000, message: "slower" });
  assert.throws(() => quota.check({ resource: "graphql" }), /: slow_down \(slower\)$/);
  const two = build(["a", "b"]);
  two.answer({ isRejected: true, message: "Bad credentials" });
  two.answer({ limit: 10, remaining: 0, resetAt: START + 30_000 });
  assert.throws(() => two.quota.check({ resource: "core" }), /: used_up$/);
});
