import assert from "node:assert/strict";
import { test } from "node:test";
import { type Load, type LoadClock, sendAtPeak, sendAtRate } from "../../bench/support/load.js";

/** A time that only moves when all that is waiting waits for it. */
class VirtualClock implements LoadClock {
  #now = 0;
  readonly #waiting: { at: number; resolve: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  reach(ms: number): Promise<void> {
    if (ms <= this.#now) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ at: ms, resolve });
    });
  }

  /** Runs until nothing waits. */
  async run(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#waiting.sort((a, b) => a.at - b.at).shift();
      if (next === undefined) return;
      this.#now = next.at;
      next.resolve();
    }
  }
}

/** A load on a server that takes 1 ms, and stalls once: until the end of the stall it responds to nothing. */
function stallingLoad(clock: VirtualClock, stall: { from: number; to: number }): Load {
  return {
    requests: [{ kind: "list", path: "/" }],
    seconds: 1,
    clock,
    async send() {
      const now = clock.now();
      await clock.reach(now >= stall.from && now < stall.to ? stall.to + 1 : now + 1);
      return 200;
    },
  };
}

test("a constant rate counts every request that a stalled server delayed", async () => {
  const clock = new VirtualClock();
  const sending = sendAtRate(stallingLoad(clock, { from: 500, to: 700 }), 1_000);
  await clock.run();
  const { all, perSecond, failed } = await sending;
  assert.equal(all.count, 1_000);
  assert.equal(failed, 0);
  assert.equal(perSecond, 1_000);
  assert.equal(all.p50, 1);
  // 200 of the 1,000 requests were scheduled in the stall; the first of them waited for all of it.
  assert.equal(all.max, 201);
  assert.equal(all.p99, 191);
});

test("clients that wait for their responses hardly notice the same stall", async () => {
  const clock = new VirtualClock();
  const sending = sendAtPeak(stallingLoad(clock, { from: 500, to: 700 }), 1);
  await clock.run();
  const { all } = await sending;
  assert.equal(all.p99, 1, "which is why latencies are measured at a constant rate");
});

test("a sender that is late counts its own delay", async () => {
  const clock = new VirtualClock();
  const late: LoadClock = { now: () => clock.now(), reach: (ms) => clock.reach(ms === 100 ? 150 : ms) };
  const sending = sendAtRate({ ...stallingLoad(clock, { from: 0, to: 0 }), clock: late }, 100);
  await clock.run();
  const { all, lateMs } = await sending;
  assert.equal(all.max, 51);
  assert.equal(lateMs, 40);
});

test("responses with an error status, and requests without a response, are failures", async () => {
  const clock = new VirtualClock();
  let sent = 0;
  const sending = sendAtRate(
    {
      ...stallingLoad(clock, { from: 0, to: 0 }),
      async send() {
        sent++;
        if (sent === 1) throw new Error("refused");
        return sent === 2 ? 503 : 304;
      },
    },
    10,
  );
  await clock.run();
  const { failed, failures, perSecond } = await sending;
  assert.equal(failed, 2);
  assert.deepEqual(failures, ["/: Error: refused", "/: 503"]);
  assert.equal(perSecond, 8);
});

test("a load that sends nothing fails", async () => {
  const clock = new VirtualClock();
  const load = stallingLoad(clock, { from: 0, to: 0 });
  await assert.rejects(sendAtRate({ ...load, requests: [] }, 10), /there is no request to send/);
  await assert.rejects(sendAtRate(load, 0), /nothing was measured/);
  await assert.rejects(sendAtPeak(load, 0), /nothing was measured/);
});
