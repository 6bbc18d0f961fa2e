import assert from "node:assert/strict";
import { test } from "node:test";
import { isoTime, systemClock } from "../../src/lib/clock.js";
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
