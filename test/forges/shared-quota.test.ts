import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider, SharedStates } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import type { NamedPace } from "../../src/forges/gate.js";
import { readState, SharedQuota, type SharedUse } from "../../src/forges/shared-quota.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { SkippingClock } from "../support/manual-clock.js";
import { type Scripted, scripted, settingsOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 10);
const { signal } = new AbortController();
const FAST: NamedPace[][] = [[{ name: "all", perHour: 36_000 }]];
const USE: SharedUse = { token: "one", resource: "core", cost: 1, part: null };

/** States in memory, and how often they were changed. */
class MemoryStates implements SharedStates {
  text: string | null = null;
  changes = 0;
  isAway = false;

  async change<T>(_: string, work: (state: string | null) => { state: string; result: T }): Promise<T> {
    if (this.isAway) throw new UpstreamFailure("quota", "away", { until: NOW + 5_000 });
    const { state, result } = work(this.text);
    this.text = state;
    this.changes++;
    return result;
  }

  async nameOf(token: string): Promise<string> {
    return `name of ${token}`;
  }
}

/** Two processes that share states and a clock. */
function two() {
  const states = new MemoryStates();
  const clock = new SkippingClock(NOW);
  const open = (isUrgent = false) => new SharedQuota({ states, forge: "WORK", clock, isUrgent });
  return { states, clock, first: open(), second: open(), open };
}

async function granted(quota: SharedQuota, use = USE, paces = FAST) {
  const taken = await quota.take(use, paces, signal);
  if (!("id" in taken)) assert.fail(`refused: ${JSON.stringify(taken)}`);
  return taken;
}

async function refused(quota: SharedQuota, use = USE) {
  const taken = await quota.take(use, FAST, signal);
  if ("id" in taken) assert.fail("it was granted");
  return taken;
}

test("processes together keep one pace, and one whose turn is far away is told when it comes", async () => {
  const { clock, first, second } = two();
  const paces = [[{ name: "all", perHour: 360 }]];
  const sentAt: number[] = [];
  for (let i = 0; i < 40; i++) {
    await granted(i % 3 === 0 ? first : second, USE, paces);
    sentAt.push(clock.now());
  }
  // A burst of six, then one request in about ten seconds.
  assert.equal(sentAt.filter((at) => at < NOW + 1_000).length, 6);
  assert.ok((sentAt[39] ?? 0) - NOW >= 33 * 10_000, String((sentAt[39] ?? 0) - NOW));
  const slow = [[{ name: "slow", perHour: 2 }]];
  await granted(first, USE, slow);
  await assert.rejects(granted(second, USE, slow), (error) => {
    assert.ok(error instanceof UpstreamFailure && error.kind === "quota");
    assert.equal(error.until, clock.now() + HOUR_MS / 2);
    return true;
  });
});

test("a part with a pace of its own waits for it first, and others do not", async () => {
  const { clock, first, second } = two();
  const part = { name: "projects", perHour: 60 };
  await granted(first, USE, [[part], ...FAST]);
  await granted(second);
  assert.ok(clock.now() - NOW < 1_000);
  await granted(second, USE, [[part], ...FAST]);
  assert.ok(clock.now() - NOW >= 60_000);
});

test("what one has in flight is not there for another, and a reported count ends it", async () => {
  const { first, second } = two();
  const resetAt = NOW + HOUR_MS;
  const known = await granted(first);
  await first.report(known, { limit: 5, remaining: 3, resetAt });
  const [one, two_, three] = [await granted(first), await granted(second), await granted(first)];
  assert.deepEqual([one.left, two_.left, three.left], [2, 1, 0]);
  const refusal = await refused(second);
  assert.deepEqual(refusal, { report: { limit: 5, remaining: 0, resetAt }, until: resetAt });
  // A response that cost nothing.
  await second.report(two_, { limit: 5, remaining: 3, resetAt });
  assert.equal((await granted(second)).left, 0);
});

test("a failed request counts, and one of another resource or token does not", async () => {
  const { first, second } = two();
  await first.report(await granted(first), { limit: 5, remaining: 1, resetAt: NOW + HOUR_MS });
  await granted(second, { ...USE, resource: "search" });
  await granted(second, { ...USE, token: "two" });
  await second.report(await granted(second), {});
  await refused(first);
});

test("what a dead process has taken stays spent until the reset", async () => {
  const { clock, first, second } = two();
  const resetAt = NOW + HOUR_MS;
  await first.report(await granted(first), { limit: 5, remaining: 2, resetAt });
  await granted(first);
  await granted(first);
  clock.advance(10 * 60_000);
  await refused(second);
  clock.advance(51 * 60_000);
  assert.equal((await granted(second)).left, 4);
});

test("a response about a period that is over changes nothing in the next one", async () => {
  const { clock, first, second } = two();
  const early = await granted(first);
  await first.report(await granted(first), { limit: 5, remaining: 1, resetAt: NOW + 1_000 });
  clock.advance(2_000);
  await second.report(await granted(second), { limit: 5, remaining: 0, resetAt: NOW + HOUR_MS });
  await first.report(early, { limit: 5, remaining: 4, resetAt: NOW + 1_000 });
  await refused(first);
});

test("a block is kept by all, for its part alone, and never shortened", async () => {
  const { clock, first, second } = two();
  const lists = { ...USE, part: "lists" };
  await first.report(await granted(first, lists), { blockedUntil: NOW + 600_000, message: "slow down" });
  const refusal = await refused(second, lists);
  assert.deepEqual(refusal.report, { blockedUntil: NOW + 600_000, message: "slow down" });
  await second.report(await granted(second), { blockedUntil: NOW + 60_000 });
  await first.report({ ...USE, id: "late", left: null }, { blockedUntil: NOW + 30_000 });
  assert.equal((await refused(first)).until, NOW + 60_000);
  clock.advance(60_000);
  await granted(first);
  await refused(first, lists);
  clock.advance(540_000);
  await granted(second, lists);
});

test("somebody who waits is counted, and waits for no turn", async () => {
  const { clock, first, open } = two();
  // Two requests, and then one in 28 seconds.
  const paces = [[{ name: "all", perHour: 130 }]];
  for (let i = 0; i < 3; i++) await granted(open(true), USE, paces);
  assert.equal(clock.now(), NOW);
  await granted(first, USE, paces);
  assert.ok(clock.now() - NOW > 50_000, "their turns were taken");
});

test("a request takes one change of the state, and the others know of news immediately", async () => {
  const { states, clock, first, second } = two();
  const resetAt = NOW + HOUR_MS;
  await first.report(await granted(first), { limit: 500, remaining: 499, resetAt });
  states.changes = 0;
  for (let i = 0; i < 10; i++) {
    clock.advance(1_000);
    const lease = await granted(first);
    await first.report(lease, { limit: 500, remaining: lease.left ?? 0, resetAt });
  }
  assert.equal(states.changes, 10);
  const lease = await granted(first);
  // Another program uses the token too.
  await first.report(lease, { limit: 500, remaining: 20, resetAt });
  assert.equal((await granted(second)).left, 19);
});

test("nothing is sent while the states cannot be read, and what is to be told is kept", async () => {
  const { states, first, second } = two();
  const lease = await granted(first);
  states.isAway = true;
  await first.report(lease, { blockedUntil: NOW + 60_000 });
  await assert.rejects(first.take(USE, FAST, signal), { kind: "quota", until: NOW + 5_000 });
  states.isAway = false;
  await first.flush();
  await refused(second);
});

test("times that no forge can mean, and a state that is damaged or of another version, stop nobody for longer than a day", async () => {
  const { states, clock, first, second } = two();
  const never = Number.MAX_SAFE_INTEGER;
  await first.report(await granted(first), { limit: 5, remaining: 0, resetAt: never, blockedUntil: never });
  assert.equal((await refused(second)).until, NOW + 24 * HOUR_MS);
  clock.advance(24 * HOUR_MS);
  await granted(second);
  states.text = JSON.stringify({ paces: { all: never }, tokens: {} });
  await granted(first);
  states.text = JSON.stringify({ of: "another version" });
  await granted(first);
  assert.deepEqual(Object.keys(readState(states.text).tokens), ["one"]);
  states.text = '{"paces":{"all":1';
  await granted(first);
  assert.deepEqual(Object.keys(readState(states.text).tokens), ["one"]);
  clock.advance(49 * HOUR_MS);
  await granted(first, { ...USE, token: "two" });
  assert.deepEqual(Object.keys(readState(states.text).tokens), ["two"], "a token of long ago is forgotten");
});

test("a clock that is set back stops nobody for as long", async () => {
  const { states, clock, first } = two();
  const paces = [[{ name: "all", perHour: 36_000 }], [{ name: "slow", perHour: 60 }]];
  for (let i = 0; i < 3; i++) await granted(first, USE, paces);
  clock.advance(-HOUR_MS);
  const began = clock.now();
  for (let i = 0; i < 3; i++) await granted(new SharedQuota({ states, forge: "WORK", clock }), USE, paces);
  assert.ok(clock.now() - began <= 3 * 60_000, "the pace continues from the new time");
});

test("a request that is aborted while it waits is not in flight any more", async () => {
  const { states, first } = two();
  const aborting = new AbortController();
  const paces = [[{ name: "all", perHour: 60 }]];
  await granted(first, USE, paces);
  await first.flush();
  aborting.abort();
  await assert.rejects(first.take(USE, paces, aborting.signal), { kind: "unreachable" });
  await first.flush();
  const { one } = readState(states.text).tokens;
  assert.equal(Object.keys(one?.open ?? {}).length, 1, "the first alone");
});

/** Two providers of one forge that share states. */
function providers(respond: (path: string, token: string) => Scripted, tokens: readonly string[]) {
  const states = new MemoryStates();
  const clock = new SkippingClock(NOW);
  const sent: string[] = [];
  const fetch = scripted((path, { headers }) => {
    const token = String(headers?.authorization).replace(/^\w+ /, "");
    sent.push(token);
    return { body: { id: 1, full_name: "o/r", stars_count: 1 }, ...respond(path, token) };
  });
  const open = (): Provider =>
    createForgejo(settingsOf("forgejo", { tokens }), { fetch, clock, shared: states });
  return { states, clock, sent, providers: [open(), open()] as const };
}

test("a provider uses another token where other processes have used up the first", async () => {
  const resetAt = Math.ceil(NOW / 1_000) + 3_600;
  const left: Record<string, number> = { "token-a": 2, "token-b": 2 };
  const world = providers(
    (_, token) => {
      left[token] = (left[token] ?? 0) - 1;
      return {
        headers: {
          "x-ratelimit-limit": "2",
          "x-ratelimit-remaining": String(left[token]),
          "x-ratelimit-reset": String(resetAt),
        },
      };
    },
    ["token-a", "token-b"],
  );
  const [first, second] = world.providers;
  for (let i = 0; i < 2; i++) await first.refreshOne("o/r", signal);
  for (let i = 0; i < 2; i++) await second.refreshOne("o/r", signal);
  for (const provider of world.providers)
    await assert.rejects(provider.refreshOne("o/r", signal), { kind: "quota", until: resetAt * 1_000 });
  assert.deepEqual(world.sent.toSorted(), ["token-a", "token-a", "token-b", "token-b"]);
  assert.equal(second.readyAt("refresh"), resetAt * 1_000);
});

test("a provider keeps the Retry-After that another one got, also after a restart", async () => {
  let isSlow = true;
  const world = providers(
    () => (isSlow ? { status: 429, headers: { "retry-after": "600" } } : {}),
    ["token-a"],
  );
  const [first, second] = world.providers;
  await assert.rejects(first.refreshOne("o/r", signal), { kind: "quota" });
  isSlow = false;
  await assert.rejects(second.refreshOne("o/r", signal), { kind: "quota", until: NOW + 600_000 });
  assert.equal(world.sent.length, 1);
  world.clock.advance(600_000);
  await second.refreshOne("o/r", signal);
});

test("a provider whose turn is far away says when it is ready", async () => {
  const states = new MemoryStates();
  const clock = new SkippingClock(NOW);
  const fetch = scripted(() => ({ body: { id: 1, full_name: "o/r", stars_count: 1 } }));
  const settings = settingsOf("forgejo", { requestsPerHour: 4 });
  const [first, second] = [0, 1].map(() => createForgejo(settings, { fetch, clock, shared: states }));
  await first?.refreshOne("o/r", signal);
  await assert.rejects(second?.refreshOne("o/r", signal) ?? assert.fail(), { kind: "quota" });
  assert.equal(second?.readyAt("refresh"), NOW + HOUR_MS / 4);
  assert.equal(fetch.sent.length, 1);
});
