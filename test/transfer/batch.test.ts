import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../../src/repositories/repository.js";
import { Batch } from "../../src/transfer/batch.js";
import { observation, snapshot } from "../support/world.js";

test("lines of a repository become one record only if the later one has all facts of the earlier one", () => {
  const taken = (...facts: Observation["facts"][]) => {
    const batch = new Batch();
    for (const [i, one] of facts.entries())
      batch.add(observation("a/b", [snapshot(9 - i, 10 + i)], { facts: one }));
    return batch.take().map(({ facts: { language }, numbers }) => [language, numbers.length / 6]);
  };
  assert.deepEqual(taken({ language: "Go" }, { language: "Rust" }, { language: "C" }), [["C", 3]]);
  assert.deepEqual(taken({}, { language: "Go" }), [["Go", 2]]);
  assert.deepEqual(taken({ language: "Go" }, {}), [
    ["Go", 1],
    [undefined, 1],
  ]);
});
