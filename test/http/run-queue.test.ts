import assert from "node:assert/strict";
import { test } from "node:test";
import { ABANDONED, OVERLOADED, type Priority, RunQueue, type Waiter } from "../../src/http/limits.js";
import { ManualClock } from "../support/manual-clock.js";

/** Lets the event loop turn once, after what is due in this turn. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Added {
  /** How it ended; undefined while it waits or runs. */
  outcome: string | undefined;
  join(waiter: Waiter): void;
  /** Ends a task that was added with `isHeld`. */
  end(): void;
}

function createQueue({ maxRunning = 1, length = 8, patienceMs = 500 } = {}) {
  const clock = new ManualClock(0);
  const queue = new RunQueue({ maxRunning, bounds: { length, patienceMs }, clock });
  const started: string[] = [];
  /** Adds a task that is named after its caller. */
  const add = (
    name: string,
    {
      priority = "anonymous",
      isHeld = false,
      isGone = () => false,
    }: { priority?: Priority; isHeld?: boolean; isGone?: () => boolean } = {},
  ): Added => {
    const held = Promise.withResolvers<void>();
    const caller = name.slice(0, 1);
    const added: Added = { outcome: undefined, join: () => {}, end: held.resolve };
    const { result, join } = queue.add({ priority, caller, isGone }, async () => {
      started.push(name);
      if (isHeld) await held.promise;
      return name;
    });
    added.join = join;
    result.then(
      () => {
        added.outcome = "done";
      },
      (error: unknown) => {
        added.outcome = error === OVERLOADED ? "refused" : error === ABANDONED ? "abandoned" : String(error);
      },
    );
    return added;
  };
  const runAll = async () => {
    while (queue.waiting > 0) await turn();
    await turn();
  };
  return { clock, queue, started, add, runAll };
}

const waiter = (caller: string, more: Partial<Waiter> = {}): Waiter => {
  return { priority: "anonymous", caller, isGone: () => false, ...more };
};

test("a task that comes first in its turn starts immediately, and every turn starts one more", async () => {
  const { started, add } = createQueue({ maxRunning: 10 });
  for (const name of ["a1", "b1", "c1"]) add(name);
  assert.deepEqual(started, ["a1"]);
  await turn();
  assert.deepEqual(started, ["a1", "b1"]);
  await turn();
  assert.deepEqual(started, ["a1", "b1", "c1"]);
  await turn();
  add("d1");
  assert.deepEqual(started.at(-1), "d1");
});

test("callers take turns, so that one with many tasks does not hold up the others", async () => {
  const { started, add, runAll } = createQueue({ length: 40 });
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]) add(name);
  await runAll();
  assert.deepEqual(started, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("of five turns, callers with an account get four, and strangers one", async () => {
  const { started, add, runAll } = createQueue({ length: 40 });
  for (const name of ["a1", "a2", "b1"]) add(name);
  for (const name of ["k1", "k2", "l1", "l2", "k3", "m1"]) add(name, { priority: "account" });
  await runAll();
  assert.deepEqual(started, ["a1", "k1", "l1", "m1", "k2", "a2", "l2", "k3", "b1"]);
});

test("one caller runs at most a quarter of the tasks that may run", async () => {
  const { started, add } = createQueue({ maxRunning: 4, length: 40 });
  const first = add("a1", { isHeld: true });
  for (const name of ["a2", "b1", "a3"]) add(name);
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(started, ["a1", "b1"]);
  first.end();
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(started, ["a1", "b1", "a2", "a3"]);
});

test("no more tasks run than may, and the slot of a failed one is free again", async () => {
  const { queue, started, add } = createQueue({ maxRunning: 2 });
  const [first, second] = [add("a1", { isHeld: true }), add("b1", { isHeld: true })];
  const failing = queue.add(waiter("c"), async () => {
    throw new Error("broken");
  });
  add("d1");
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(started, ["a1", "b1"]);
  first.end();
  await assert.rejects(failing.result, /broken/);
  await turn();
  assert.deepEqual(started, ["a1", "b1", "d1"]);
  second.end();
  await turn();
  assert.equal(second.outcome, "done");
});

test("a caller that has a quarter of the queue gets no more of it", async () => {
  const { queue, add } = createQueue({ length: 8 });
  add("x0");
  const added = ["a1", "a2", "a3", "b1"].map((name) => add(name));
  await Promise.resolve();
  assert.equal(queue.waiting, 3);
  await turn();
  assert.deepEqual(
    added.map(({ outcome }) => outcome === "refused"),
    [false, false, true, false],
  );
});

test("a full queue takes the newest task from the caller that has most, and refuses who would have as many", async () => {
  const { queue, add } = createQueue({ length: 8, maxRunning: 1 });
  const running = add("x0", { isHeld: true });
  const tasks = Object.fromEntries(
    ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "e1"].map((name) => [name, add(name)] as const),
  );
  assert.equal(queue.waiting, 8);
  const accepted = add("f1");
  const refused = add("d2");
  const account = add("k1", { priority: "account" });
  await turn();
  assert.equal(queue.waiting, 9);
  assert.equal(tasks.a2?.outcome, "refused");
  assert.deepEqual([accepted.outcome, account.outcome], [undefined, undefined], "both wait");
  assert.equal(refused.outcome, "refused");
  running.end();
});

test("a task that has waited too long is refused, and does not run", async () => {
  const { clock, started, add } = createQueue({ patienceMs: 500 });
  const running = add("a1", { isHeld: true });
  const early = add("b1");
  clock.advance(300);
  const late = add("c1");
  clock.advance(200);
  await turn();
  assert.deepEqual([early.outcome, late.outcome], ["refused", undefined]);
  clock.advance(199);
  await turn();
  running.end();
  await turn();
  await turn();
  assert.equal(late.outcome, "done");
  assert.deepEqual(started, ["a1", "c1"]);
  assert.equal(clock.sleeping, 1);
  clock.advance(500);
  await turn();
  assert.equal(clock.sleeping, 0, "nothing watches an empty queue");
});

test("time of day does not count as waiting", async () => {
  const { clock, add } = createQueue({ patienceMs: 500 });
  const running = add("a1", { isHeld: true });
  const waiting = add("b1");
  clock.set(3_600_000);
  await turn();
  running.end();
  await turn();
  await turn();
  assert.equal(waiting.outcome, "done");
});

test("a task is dropped when all who waited for it are gone, and runs when one of them is not", async () => {
  const { started, add, runAll } = createQueue();
  let isGone = false;
  add("a1");
  const left = add("b1", { isGone: () => isGone });
  const shared = add("c1", { isGone: () => isGone });
  shared.join(waiter("d"));
  isGone = true;
  await runAll();
  assert.deepEqual(started, ["a1", "c1"]);
  assert.deepEqual([left.outcome, shared.outcome], ["abandoned", "done"]);
});

test("a late task that nobody waits for is no overload", async () => {
  const { clock, add } = createQueue({ patienceMs: 500 });
  const running = add("a1", { isHeld: true });
  const [left, late] = [add("b1", { isGone: () => true }), add("c1")];
  clock.advance(500);
  await turn();
  assert.deepEqual([left.outcome, late.outcome], ["abandoned", "refused"]);
  running.end();
});

test("a task goes first as soon as a caller with an account waits for it too", async () => {
  const { queue, started, add, runAll } = createQueue({ length: 4 });
  for (const name of ["a1", "b1", "c1"]) add(name);
  const last = add("d1");
  last.join(waiter("e"));
  last.join(waiter("k", { priority: "account" }));
  last.join(waiter("l", { priority: "account" }));
  assert.equal(queue.waiting, 3);
  await runAll();
  last.join(waiter("k", { priority: "account" }));
  assert.deepEqual(started, ["a1", "d1", "b1", "c1"]);
});

test("who joins does not make a task later for those who wait already", async () => {
  const { started, add, runAll } = createQueue({ length: 40 });
  add("x1");
  const [first, second] = [add("a1"), add("a2")];
  for (const name of ["b1", "b2", "v1"]) add(name);
  for (const caller of ["v", "w", "a"]) first.join(waiter(caller));
  second.join(waiter("v"));
  await runAll();
  assert.deepEqual(started, ["x1", "a1", "b1", "v1", "a2", "b2"]);
});

test("a caller that joins late may wait as long as for a task of its own, once", async () => {
  const { clock, add } = createQueue({ patienceMs: 500 });
  const running = add("x1", { isHeld: true });
  const [shared, other] = [add("a1"), add("b1")];
  clock.advance(499);
  await turn();
  shared.join(waiter("v"));
  clock.advance(1);
  await turn();
  assert.deepEqual([shared.outcome, other.outcome], [undefined, "refused"]);
  clock.advance(400);
  for (const caller of ["v", "a"]) shared.join(waiter(caller));
  clock.advance(98);
  await turn();
  assert.equal(shared.outcome, undefined);
  clock.advance(1);
  await turn();
  assert.equal(shared.outcome, "refused");
  running.end();
});

test("without bounds everything waits for as long as it takes", async () => {
  const clock = new ManualClock(0);
  const queue = new RunQueue({ maxRunning: 1, bounds: undefined, clock });
  const results = Array.from({ length: 200 }, (_, i) => queue.add(waiter("a"), async () => i).result);
  clock.advance(1_000_000);
  assert.equal((await Promise.all(results)).length, 200);
  assert.equal(clock.sleeping, 0);
});
