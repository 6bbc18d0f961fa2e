import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeOrder } from "../../../src/discovery/lists/index/encode.js";
import { Positions, SortedSlots } from "../../../src/discovery/lists/index/positions.js";
import { examples, fc } from "../../support/properties.js";

/** Enough that the first ones are sorted before the others. */
const SLOTS = 2_000;

describe("Slots that are sorted as far as they are read", () => {
  test("come in the order of the list from any row on, however many are read at once", () => {
    const cases = fc.record({
      seed: fc.nat(1_000),
      distinct: fc.constantFrom(1, 3, 50, 100_000),
      isAscending: fc.boolean(),
      begin: fc.nat(SLOTS),
      steps: fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(cases, ({ seed, distinct, isAscending, begin, steps }) => {
        // Sorted keys, keys in groups and mixed ones.
        const keys = Array.from({ length: SLOTS }, (_, i) => (i * (seed + 1)) % distinct);
        const slots = [...keys.keys()].sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || b - a);
        const sorted = {
          slots: Uint32Array.from(slots),
          keys: Float64Array.from(slots, (slot) => keys[slot] ?? 0),
        };
        const order = encodeOrder(sorted, { slots: SLOTS, keepsUnknown: true, isFilter: true });
        const cells = order.cells ?? assert.fail();
        const list = isAscending ? slots.toReversed() : slots;
        const row = list[begin - 1];
        const positions = new Positions(order, cells, isAscending ? "asc" : "desc");
        const after = row === undefined ? -1 : positions.upTo({ sortKey: keys[row] ?? 0, id: row });
        const read = new SortedSlots(Uint32Array.from(keys.keys()), positions, after);
        let from = 0;
        for (const step of steps) {
          assert.deepEqual(read.slice(from, from + step), list.slice(begin + from, begin + from + step));
          from += step;
        }
      }),
      { numRuns: examples(500) },
    );
  });
});
