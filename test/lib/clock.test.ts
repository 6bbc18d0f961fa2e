import assert from "node:assert/strict";
import { test } from "node:test";
import { followServerTime } from "../../src/database/server-time.js";
import { isoTime, ServerClock, systemClock } from "../../src/lib/clock.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { examples, fc } from "../support/properties.js";

test("a time is written as Date writes it, whatever the time", () => {
  const limit = 8.64e15;
  const times = fc.oneof(
    fc.integer({ min: 0, max: 4e12 }),
    fc.integer({ min: -limit, max: limit }),
    fc.constantFrom(0, -1, 1, 999, 86_399_999, 86_400_000, -86_400_000, limit, -limit),
  );
  fc.assert(
    fc.property(times, (ms) => assert.equal(isoTime(ms), new Date(ms).toISOString())),
    { numRuns: examples(2_000) },
  );
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, 9e15]) assert.throws(() => isoTime(ms), RangeError);
});

test("a time that is over needs no sleep, and no warning", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  await systemClock.sleep(-0.5);
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

const SERVER = Date.UTC(2026, 0, 10);
const HOUR = 3_600_000;

/** A clock that has followed a server once, on a machine that is `offMs` ahead of it. */
function following(offMs: number) {
  const machine = new ManualClock(SERVER + offMs);
  const clock = new ServerClock(machine);
  const measure = (serverTime: number, errorMs = 2) =>
    clock.note({ serverTime, at: machine.monotonic(), errorMs });
  const first = measure(SERVER);
  return { machine, clock, measure, first };
}

test("a clock has the time of the server, whatever that of the machine is, and is that of the machine without one", () => {
  const { machine, clock, first } = following(HOUR);
  assert.deepEqual(first, { kind: "followed", ms: -HOUR });
  assert.equal(clock.now(), SERVER);
  assert.equal(clock.machineAheadMs, HOUR);
  machine.advance(10_000);
  assert.equal(clock.now(), SERVER + 10_000);
  assert.equal(new ServerClock(new ManualClock(7)).now(), 7);
});

test("setting the machine's clock changes nothing", () => {
  const { machine, clock } = following(0);
  machine.set(SERVER - 5 * HOUR);
  machine.advance(1_000);
  assert.equal(clock.now(), SERVER + 1_000);
  assert.equal(clock.machineAheadMs, -5 * HOUR);
});

test("a clock follows small differences, stands still rather than go back, and ignores what is within the error", () => {
  const { machine, clock, measure } = following(0);
  assert.deepEqual(measure(SERVER + 2), { kind: "followed", ms: 0 });
  assert.equal(clock.now(), SERVER);
  assert.deepEqual(measure(SERVER + 300), { kind: "followed", ms: 300 });
  assert.equal(clock.now(), SERVER + 300);
  assert.deepEqual(measure(SERVER - 100), { kind: "followed", ms: -400 });
  assert.equal(clock.now(), SERVER + 300);
  machine.advance(400);
  assert.equal(clock.now(), SERVER + 300);
  machine.advance(1);
  assert.equal(clock.now(), SERVER + 301);
});

test("a server whose clock jumps is followed only where the machine confirms it", () => {
  for (const ms of [HOUR, -HOUR]) {
    // A standby with a wrong clock takes over.
    const right = following(0);
    assert.deepEqual(right.measure(SERVER + ms), { kind: "refused", ms });
    right.machine.advance(60_000);
    assert.equal(right.clock.now(), SERVER + 60_000);
    assert.deepEqual(right.measure(SERVER + 60_000), { kind: "followed", ms: 0 });
    // The wrong clock of the server is corrected.
    const corrected = following(ms);
    assert.deepEqual(corrected.measure(SERVER + ms + 20), { kind: "jumped", ms: ms + 20 });
    assert.equal(corrected.clock.now(), SERVER + ms + 20);
  }
});

test("what happens to the server's clock is logged, once", async () => {
  const machine = new ManualClock(SERVER + HOUR);
  const clock = new ServerClock(machine);
  const { log, lines } = recordedLog("info");
  const stopping = new AbortController();
  let serverTime: () => number = () => SERVER + machine.monotonic();
  let reads = 0;
  const readTime = async () => {
    // The first responses come late.
    if (reads++ % 5 < 4) machine.advance(40);
    return serverTime();
  };
  await followServerTime(clock, readTime, { log, signal: stopping.signal });
  assert.ok(Math.abs(clock.now() - (SERVER + machine.monotonic())) <= 1);
  const minute = async () => {
    await machine.whenSleeping(() => 1);
    machine.advance(60_000);
  };
  await minute();
  serverTime = () => SERVER + machine.monotonic() + 2 * HOUR;
  for (let i = 0; i < 3; i++) await minute();
  serverTime = () => {
    throw new Error("away");
  };
  await minute();
  serverTime = () => SERVER + machine.monotonic();
  await minute();
  machine.set(SERVER + machine.monotonic());
  await minute();
  machine.set(SERVER + machine.monotonic() - HOUR);
  serverTime = () => SERVER + machine.monotonic() - HOUR;
  await minute();
  await machine.whenSleeping(() => 1);
  stopping.abort();
  assert.deepEqual(
    lines.map(({ msg, aheadMs }) => [msg, Math.round(Number(aheadMs ?? 0) / HOUR)]),
    [
      ["the clock of this machine differs from that of the database server, which counts", 1],
      [
        "the clock of the database server was set, and the clock of this machine contradicts it: it is not followed",
        2,
      ],
      ["the clock of the database server agrees again", 0],
      ["the clock of the database server was set, and is followed", -1],
    ],
  );
});
