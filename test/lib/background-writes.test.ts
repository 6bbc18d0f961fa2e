import assert from "node:assert/strict";
import { test } from "node:test";
import { BackgroundWrites } from "../../src/lib/background-writes.js";
import { recordedLog } from "../support/logs.js";

test("writes happen one after the other; one that fails is logged with its cause, and the next ones go on", async () => {
  const { log, lines } = recordedLog("error");
  const writes = new BackgroundWrites(log);
  const done: number[] = [];
  writes.add(async () => done.push(1), "not logged");
  writes.add(() => Promise.reject(new Error("the disk is full")), "a use could not be recorded", {
    event: "used",
  });
  writes.add(async () => done.push(2), "not logged");
  await writes.flush();
  assert.deepEqual(done, [1, 2]);
  assert.deepEqual(
    lines.map(({ msg, event, err }) => [msg, event, err.message]),
    [["a use could not be recorded", "used", "the disk is full"]],
  );
});
