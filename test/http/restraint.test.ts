import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { Restraint } from "../../src/http/restraint.js";
import { ManualClock } from "../support/manual-clock.js";

function start() {
  const clock = new ManualClock(0);
  const restraint = new Restraint(clock, new AbortController().signal);
  const hold = (count: number) =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      restraint.hold(socket, "an address");
      return socket;
    });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const isHeld = (socket: Socket | undefined) => socket?.isPaused();
  return { restraint, hold, pass, isHeld };
}

test("the pause after a refusal grows with the connections that wait, up to four seconds", async () => {
  const { hold, pass, isHeld } = start();
  const first = hold(400)[0];
  const [late] = hold(1);
  await pass(100);
  assert.deepEqual([isHeld(first), isHeld(late)], [false, true]);
  await pass(150);
  assert.equal(isHeld(late), false);
  const last = hold(10_000).at(-1);
  await pass(3_900);
  assert.equal(isHeld(last), true);
  await pass(150);
  assert.equal(isHeld(last), false);
});

test("connections that have closed do not count, and others do not wait behind those that came while many waited", async () => {
  const { restraint, hold, pass, isHeld } = start();
  const [kept, ...closed] = hold(10_000).reverse();
  for (const socket of closed) restraint.forget(socket);
  const [later] = hold(1);
  await pass(100);
  assert.deepEqual([isHeld(kept), isHeld(later)], [true, false]);
});

test("a service that stops reads all connections, and holds none", async () => {
  const { restraint, hold, isHeld } = start();
  const [held] = hold(1);
  assert.equal(isHeld(held), true);
  restraint.end();
  const [later] = hold(1);
  assert.deepEqual([isHeld(held), isHeld(later)], [false, false]);
});
