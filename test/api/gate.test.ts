import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../../src/api/gate.js";
import { AppError } from "../../src/errors.js";

/** Tasks that run until they are told to end. */
function tasks() {
  const ends: ((error?: Error) => void)[] = [];
  const task = () =>
    new Promise<string>((resolve, reject) => {
      ends.push((error) => (error === undefined ? resolve("done") : reject(error)));
    });
  return { task, ends };
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test("so many run at once, the others wait in their order, and beyond that they are refused", async () => {
  const gate = new Gate(2, 2);
  const { task, ends } = tasks();
  const asked = [1, 2, 3, 4].map(() => gate.pass(task));
  await assert.rejects(gate.pass(task), (error) => error instanceof AppError && error.code === "UNAVAILABLE");
  assert.equal(ends.length, 2);
  ends[0]?.();
  assert.equal(await asked[0], "done");
  await settled();
  assert.equal(ends.length, 3);
  const later = gate.pass(task);
  for (const i of [1, 2, 3, 4]) {
    ends[i]?.();
    await settled();
  }
  assert.deepEqual(await Promise.all([...asked, later]), Array(5).fill("done"));
});

test("a task that fails gives its place to the next", async () => {
  const gate = new Gate(1, 1);
  const { task, ends } = tasks();
  const [first, second] = [gate.pass(task), gate.pass(task)];
  ends[0]?.(new Error("failed"));
  await assert.rejects(first, /failed/);
  await settled();
  ends[1]?.();
  assert.equal(await second, "done");
  const third = gate.pass(task);
  ends[2]?.();
  assert.equal(await third, "done");
});
