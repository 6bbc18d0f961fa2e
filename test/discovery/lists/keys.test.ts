import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { numberKeys } from "../../../src/discovery/lists/index/encode.js";
import { codeAtMost, keyBytes, keyCount, keyOfCode } from "../../../src/discovery/lists/index/order.js";
import { examples, fc } from "../../support/properties.js";

/** Close together, and further apart than 32 bits reach. */
const key = fc.oneof(
  fc.integer({ min: -5, max: 300 }),
  fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 33),
  fc.integer({ min: 1.1e12, max: 1.8e12 }),
  fc.maxSafeInteger(),
);

describe("Numbered sort keys", () => {
  test("are found by their code, and codes by any bound, however far apart the keys are", () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), fc.array(key, { maxLength: 20 }), (given, bounds) => {
        const sorted = Float64Array.from(given).sort().reverse();
        const distinct = [...new Set(sorted)];
        const keys = numberKeys(sorted);
        assert.equal(keyCount(keys), distinct.length);
        assert.deepEqual(
          distinct.map((_, i) => keyOfCode(keys, i + 1)),
          distinct,
        );
        for (const bound of [...bounds, ...distinct]) {
          const first = distinct.findIndex((one) => one <= bound);
          assert.equal(codeAtMost(keys, bound), (first === -1 ? distinct.length : first) + 1);
        }
      }),
      { numRuns: examples(300) },
    );
  });

  test("of times to the millisecond take little more than four bytes each", () => {
    const times = Float64Array.from({ length: 70_000 }, (_, i) => 1.8e12 - i * 7_200_001);
    const keys = numberKeys(times);
    assert.ok(keyBytes(keys) < 4.1 * times.length, `${keyBytes(keys)}`);
    assert.equal(keyOfCode(keys, 70_000), times.at(-1));
  });
});
