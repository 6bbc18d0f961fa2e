import assert from "node:assert/strict";
import { test } from "node:test";
import { paceOf } from "../../src/config/known-forges.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { Gate } from "../../src/forges/gate.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { ManualClock, SkippingClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";

const START = Date.UTC(2026, 0, 1);
const never = new AbortController().signal;
const FAST = { perHour: 1_000_000 };

function gateOf(clock: ManualClock, changes: Partial<ConstructorParameters<typeof Gate>[0]> = {}): Gate {
  return new Gate({ pace: FAST, requestsPerHour: null, hasTokens: () => false, clock, ...changes });
}

/** Times at which requests pass, one after the other, in ms. */
async function timesOf(
  gate: Gate,
  clock: ManualClock,
  requests: number,
  part: string | null = null,
): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    await gate.pass(part, never);
    times.push(clock.monotonic());
  }
  return times;
}

/** Most of these times within any period of this length. */
function mostWithin(times: readonly number[], ms: number): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
}

test("our own limit holds in every hour, whenever requests come, and a long wait ends as quota", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 200 }),
      async (requestsPerHour, gaps) => {
        const clock = new SkippingClock(START);
        const gate = gateOf(clock, { requestsPerHour });
        const sent: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          const readyAt = gate.readyAt(null);
          const failure = await gate.pass(null, never).catch((error: unknown) => error);
          if (failure === undefined) sent.push(clock.monotonic());
          else {
            assert.ok(failure instanceof UpstreamFailure && failure.kind === "quota");
            assert.equal(failure.until, Math.ceil(clock.now() + readyAt - clock.monotonic()));
            assert.ok((failure.until ?? 0) - clock.now() > 60_000);
          }
        }
        assert.ok(sent.length === 0 || mostWithin(sent, HOUR_MS) <= requestsPerHour);
      },
    ),
  );
});

test("requests that follow each other achieve the full rate", async () => {
  for (const requestsPerHour of [60, 600, 5_000]) {
    const clock = new SkippingClock(START);
    const times = await timesOf(gateOf(clock, { requestsPerHour }), clock, requestsPerHour + 1);
    const hour = times.filter((at) => at < HOUR_MS).length;
    assert.ok(hour <= requestsPerHour && hour >= requestsPerHour * 0.95, `${hour} of ${requestsPerHour}`);
  }
});

test("every forge gets fewer requests than its published limits, also for lists", async () => {
  const busiest = async (
    name: string,
    kind: "github" | "gitlab" | "forgejo",
    ms: number,
    part: string | null = null,
  ) => {
    const clock = new SkippingClock(START);
    const gate = gateOf(clock, { pace: paceOf({ name, kind }) });
    return mostWithin(await timesOf(gate, clock, 2_000, part), ms);
  };
  const [MINUTE, TEN, THIRTY] = [60_000, 600_000, 1_800_000];
  assert.ok((await busiest("CODEBERG", "forgejo", THIRTY)) <= 1_010);
  assert.ok((await busiest("WORK", "forgejo", MINUTE)) <= 70);
  assert.ok((await busiest("GITHUB", "github", MINUTE)) <= 310);
  assert.ok((await busiest("GITLAB", "gitlab", MINUTE)) <= 130);
  assert.ok((await busiest("GITLAB", "gitlab", TEN, "projects")) <= 310);
});

test("requests pass in the order in which they arrive, whichever lane sends them", async () => {
  const clock = new ManualClock(START);
  const gate = gateOf(clock, { requestsPerHour: 3_600 });
  const passed: number[] = [];
  const all = Array.from({ length: 40 }, async (_, i) => {
    await gate.pass(null, never);
    passed.push(i);
  });
  for (let second = 0; second < 40; second++) {
    clock.advance(1_010);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  assert.deepEqual(passed, [...Array(40).keys()]);
});

test("lists wait for their own pace without holding up other requests", async () => {
  const clock = new ManualClock(START);
  const gate = gateOf(clock, {
    pace: { ...FAST, parts: { projects: { anonymous: 1_200, withToken: 9_000 } } },
  });
  for (let i = 0; i < 10; i++) await gate.pass("projects", never);
  clock.advance(100);
  let isListed = false;
  const list = gate.pass("projects", never).then(() => {
    isListed = true;
  });
  await gate.pass(null, never);
  assert.equal(isListed, false);
  clock.advance(3_000);
  await list;
});

test("a request that is aborted while it waits ends immediately", async () => {
  const clock = new ManualClock(START);
  const gate = gateOf(clock, { requestsPerHour: 60 });
  await gate.pass(null, never);
  const ending = new AbortController();
  const waiting = gate.pass(null, ending.signal);
  ending.abort();
  await assert.rejects(waiting, { kind: "unreachable" });
});
