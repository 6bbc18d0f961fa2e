import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Clock, DAY_MS, HOUR_MS, ManualClock } from "../../src/clock.js";
import { UpstreamFailure } from "../../src/providers/contract.js";
import { type Lease, Quota, type QuotaReport } from "../../src/providers/quota.js";

const START = Date.UTC(2026, 0, 1);

/** A clock whose wall time can be set while the monotonic time goes on. */
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

function build(tokens: string[] = [], requestsPerHour: number | null = null) {
  const clock = new JumpingClock();
  const quota = new Quota({ tokens, requestsPerHour, clock });
  const answer = (told: QuotaReport, resource = "core"): Lease => {
    const lease = quota.take(resource);
    quota.learn(lease, told);
    return lease;
  };
  return { clock, quota, answer };
}

/** Takes leave to send: null where it is given, else until when it is not. */
function takeOrUntil(quota: Quota, resource = "core"): number | null {
  try {
    quota.take(resource);
    return null;
  } catch (error) {
    assert.ok(error instanceof UpstreamFailure, String(error));
    assert.equal(error.kind, "quota");
    return error.until;
  }
}

test("without tokens there is one anonymous entry", () => {
  const { quota } = build();
  const { token, label } = quota.take("core");
  assert.deepEqual({ token, label }, { token: null, label: "anonymous" });
  assert.deepEqual(quota.list(), [
    { token: "anonymous", resource: "core", limit: null, remaining: null, resetAt: null, blockedUntil: null },
  ]);
});

test("tokens of which nothing is known take turns", () => {
  const { quota } = build(["a", "b", "c"]);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => quota.take("core").label),
    ["#1", "#2", "#3", "#1", "#2"],
  );
});

test("the token with most left goes first, apart for every resource", () => {
  const { quota } = build(["a", "b"]);
  const resetAt = START + HOUR_MS;
  quota.learn(quota.take("core"), { limit: 100, remaining: 10, resetAt });
  quota.learn(quota.take("core"), { limit: 100, remaining: 50, resetAt });
  for (let i = 0; i < 40; i++) assert.equal(quota.take("core").token, "b");
  assert.equal(quota.take("core").token, "a");
  assert.equal(quota.take("search").token, "b", "of search nothing is known, and b was used less lately");
});

test("nothing is sent while nothing is left, until the reset", () => {
  const { clock, quota, answer } = build(["a"]);
  answer({ limit: 60, remaining: 0, resetAt: START + HOUR_MS });
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
  assert.equal(quota.readyAt("core"), START + HOUR_MS);
  assert.ok(quota.readyAt("search") <= START, "another resource is not concerned");
  clock.advance(HOUR_MS - 1);
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
  clock.advance(1);
  assert.equal(quota.list()[0]?.remaining, 60);
  assert.equal(takeOrUntil(quota), null);
});

test("a request that costs more than is left waits, unless it costs more than there ever is", () => {
  const { quota, answer } = build(["a"]);
  answer({ limit: 10, remaining: 3, resetAt: START + HOUR_MS });
  assert.throws(() => quota.take("core", 4), UpstreamFailure);
  quota.take("core", 3);
  const whole = build(["a"]);
  whole.answer({ limit: 10, remaining: 10, resetAt: START + HOUR_MS });
  whole.quota.take("core", 11);
});

test("a block holds for the token whatever the resource, and is never shortened", () => {
  const { clock, quota, answer } = build(["a", "b"]);
  assert.equal(answer({ blockedUntil: START + 60_000 }).token, "a");
  for (let i = 0; i < 3; i++) assert.equal(answer({}, "search").token, "b");
  const lease = quota.take("core");
  quota.learn(lease, { blockedUntil: START + 90_000 });
  quota.learn(lease, { blockedUntil: START + 1000 });
  assert.equal(takeOrUntil(quota), START + 60_000, "the one that is free first");
  clock.advance(60_000);
  assert.equal(quota.take("core").token, "a");
});

test("a token that was refused rests for an hour and the others go on", () => {
  const { clock, quota, answer } = build(["a", "b"]);
  assert.equal(answer({ isRejected: true }).token, "a");
  for (let i = 0; i < 5; i++) assert.equal(answer({}).token, "b");
  answer({ isRejected: true });
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
  clock.advance(HOUR_MS);
  assert.equal(takeOrUntil(quota), null);
});

test("free answers do not use up what is left, missing ones do", () => {
  const { quota, answer } = build(["a"]);
  const told = { limit: 5, remaining: 3, resetAt: START + HOUR_MS };
  for (let i = 0; i < 20; i++) answer(told);
  assert.equal(quota.list()[0]?.remaining, 3);
  for (let i = 0; i < 3; i++) answer({});
  assert.equal(takeOrUntil(quota), START + HOUR_MS);
});

test("a count that comes without the time of its reset is believed for a minute", () => {
  const { quota, answer } = build(["a"]);
  answer({ remaining: 0 });
  assert.equal(takeOrUntil(quota), START + 60_000);
});

test("leases that are never given back stop counting as under way", () => {
  const { clock, quota, answer } = build(["a"]);
  answer({ limit: 10, remaining: 10, resetAt: START + HOUR_MS });
  for (let i = 0; i < 4; i++) quota.take("core");
  clock.advance(10 * 60_000);
  quota.learn(quota.take("core"), { limit: 10, remaining: 5, resetAt: START + HOUR_MS });
  assert.equal(quota.list()[0]?.remaining, 5);
});

test("nonsense is not believed", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 60]) {
    const { quota, answer } = build(["a"]);
    answer({ limit: value, remaining: value, resetAt: Number.NaN, blockedUntil: Number.POSITIVE_INFINITY });
    assert.equal(takeOrUntil(quota), null);
    assert.equal(quota.list()[0]?.remaining, null);
  }
});

test("a clock that is set keeps nobody waiting longer, or shorter, than the forge asked for", () => {
  for (const jump of [-HOUR_MS, HOUR_MS, 400 * DAY_MS, -400 * DAY_MS]) {
    for (const told of [
      { blockedUntil: START + 60_000 },
      { remaining: 0, limit: 5, resetAt: START + 60_000 },
    ]) {
      const { clock, quota, answer } = build(["a"], 3600);
      answer(told);
      clock.jump(jump);
      assert.equal(takeOrUntil(quota), clock.now() + 60_000);
      clock.advance(59_999);
      assert.notEqual(takeOrUntil(quota), null);
      clock.advance(1);
      assert.equal(takeOrUntil(quota), null);
    }
  }
});

test("the pace holds in every hour, for one token or many or none", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.nat({ max: 3 }),
      fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 300 }),
      (perHour, tokens, gaps) => {
        const clock = new ManualClock(START);
        const names = Array.from({ length: tokens }, (_, i) => `t${i}`);
        const quota = new Quota({ tokens: names, requestsPerHour: perHour, clock });
        const sent: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          const readyAt = quota.readyAt("core");
          const isReady = readyAt <= clock.now();
          assert.equal(takeOrUntil(quota), isReady ? null : readyAt);
          if (!isReady) continue;
          sent.push(clock.monotonic());
          assert.ok(sent.filter((at) => at > clock.monotonic() - HOUR_MS).length <= perHour);
        }
      },
    ),
  );
});

test("who waits for readyAt gets the whole pace", () => {
  for (const perHour of [1, 59, 60, 600, 5000]) {
    const clock = new ManualClock(START);
    const quota = new Quota({ tokens: [], requestsPerHour: perHour, clock });
    let sent = 0;
    for (; clock.monotonic() < HOUR_MS; sent++) {
      quota.take("core");
      clock.advance(quota.readyAt("core") - clock.now());
    }
    assert.ok(sent <= perHour && sent >= perHour * 0.95, `${sent} of ${perHour}`);
  }
});

/** A forge that counts by the hour. */
class CountingForge {
  readonly used = new Map<string | null, { period: number; count: number }>();
  readonly #limit: number;
  readonly #clock: Clock;
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }
  /** What the answer to a request that arrives now tells. */
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

test("a forge that counts never sees one too many, however answers overtake each other, and tokens are spent evenly", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 8, max: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.nat({ max: 300_000 }), fc.nat({ max: 7 }), fc.boolean()), { maxLength: 200 }),
      (limit, tokens, steps) => {
        const clock = new JumpingClock();
        const names = Array.from({ length: tokens }, (_, i) => `t${i}`);
        const quota = new Quota({ tokens: names, requestsPerHour: null, clock });
        const forge = new CountingForge(limit, clock);
        const underWay: { lease: Lease; told: QuotaReport }[] = [];
        for (const [gap, pick, mayAnswer] of steps) {
          clock.advance(mayAnswer ? gap : 0);
          const [next] =
            mayAnswer || underWay.length > 7 ? underWay.splice(pick % (underWay.length || 1), 1) : [];
          if (next !== undefined) quota.learn(next.lease, next.told);
          if (quota.readyAt("core") > clock.now()) continue;
          const lease = quota.take("core");
          underWay.push({ lease, told: forge.ask(lease.token) });
        }
      },
    ),
  );
});

test("tokens that stand alike are spent evenly", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 100 }), (tokens, requests) => {
      const clock = new JumpingClock();
      const names = Array.from({ length: tokens }, (_, i) => `t${i}`);
      const quota = new Quota({ tokens: names, requestsPerHour: null, clock });
      const forge = new CountingForge(100, clock);
      for (let i = 0; i < requests; i++) {
        const lease = quota.take("core");
        quota.learn(lease, forge.ask(lease.token));
      }
      const counts = names.map((name) => forge.used.get(name)?.count ?? 0);
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join());
    }),
  );
});
