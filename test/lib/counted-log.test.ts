import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedLog } from "../../src/lib/counted-log.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

test("the first of many is logged immediately, then their number at most every ten seconds", () => {
  const clock = new ManualClock(NOW);
  const lines: string[] = [];
  const log = new CountedLog<string>(clock, (count, last) => lines.push(`${count} ${last}`));
  for (const one of ["a", "b", "c"]) log.note(one);
  clock.advance(9_999);
  log.note("d");
  assert.deepEqual(lines, ["1 a"]);
  clock.advance(1);
  log.note("e");
  log.note("f");
  assert.deepEqual(lines, ["1 a", "4 e"]);
});
