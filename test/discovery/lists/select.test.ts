import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RangeCondition } from "../../../src/discovery/lists/index/conditions.js";
import { encodeOrder } from "../../../src/discovery/lists/index/encode.js";
import { codeAtMost, keyCount, type Order } from "../../../src/discovery/lists/index/order.js";
import { select } from "../../../src/discovery/lists/index/select.js";
import { examples, fc } from "../../support/properties.js";

/** More than a walk tests in its first step. */
const SLOTS = 400;

/** Sort keys by slot; null where unknown. Few distinct ones or many, some of them far apart. */
const keysBySlot = fc.array(
  fc.oneof(
    fc.constantFrom(0, 0, 0, 1, 2, null),
    fc.integer({ min: 0, max: 300 }),
    fc.constantFrom(1e12, 4_000_000_000_000),
  ),
  { minLength: SLOTS, maxLength: SLOTS },
);

/** Slots with a known key, in descending order. */
function sortedKnown(keys: readonly (number | null)[]): number[] {
  const known = [...keys.keys()].filter((slot) => keys[slot] !== null);
  return known.sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || b - a);
}

function orderOf(keys: readonly (number | null)[], isFilter: boolean): Order {
  const slots = sortedKnown(keys);
  const sorted = {
    slots: Uint32Array.from(slots),
    keys: Float64Array.from(slots, (slot) => keys[slot] ?? 0),
  };
  return encodeOrder(sorted, { slots: SLOTS, keepsUnknown: isFilter, isFilter });
}

describe("Selecting with the list index", () => {
  test("gives what plain filtering and sorting gives, whatever is sorted, walked or searched", () => {
    const cases = fc.record({
      keys: keysBySlot,
      others: keysBySlot,
      isPlain: fc.boolean(),
      direction: fc.constantFrom("asc" as const, "desc" as const),
      bounds: fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 })),
      isOnKey: fc.boolean(),
      limit: fc.integer({ min: 1, max: 20 }),
      begin: fc.nat(SLOTS),
      byCursor: fc.boolean(),
      most: fc.constantFrom(0, 5, 60, SLOTS),
      minBudget: fc.constantFrom(0, 1, 1_000),
    });
    fc.assert(
      fc.property(cases, ({ keys, others, isPlain, direction, bounds, isOnKey, ...given }) => {
        const { limit, most, minBudget, byCursor } = given;
        const order = orderOf(keys, isPlain);
        const filtered =
          isOnKey && isPlain ? { order, keys } : { order: orderOf(others, true), keys: others };
        const [from, to] = bounds[0] < bounds[1] ? bounds : [bounds[1], bounds[0]];
        const codes = {
          first: codeAtMost(filtered.order.keys, to),
          last: Math.min(keyCount(filtered.order.keys), codeAtMost(filtered.order.keys, from - 1) - 1),
        };
        fc.pre(codes.last >= codes.first && filtered.order.cells !== undefined);
        const condition = new RangeCondition(filtered.order.cells ?? assert.fail(), codes.first, codes.last);
        const isOwn = isOnKey && isPlain;
        const tests = [{ condition, ...(isOwn && { range: { sort: "stars" as const, codes } }) }];

        const down = sortedKnown(keys);
        const unknown = isPlain ? [...keys.keys()].filter((slot) => keys[slot] === null) : [];
        const all =
          direction === "desc" ? [...down, ...unknown.toReversed()] : [...down.toReversed(), ...unknown];
        const passes = (slot: number) => {
          const key = filtered.keys[slot] ?? -1;
          return key >= from && key <= to;
        };
        const model = all.filter(passes);
        const begin = Math.min(given.begin, model.length);
        const before = model[begin - 1];
        const page =
          byCursor && before !== undefined
            ? { limit, after: { sortKey: keys[before] ?? -1, id: before } }
            : { limit, offset: begin };
        const selection = select(
          { page, direction, sort: "stars" },
          { slots: SLOTS, tests, order, most, minBudget },
        );
        assert.deepEqual(selection.take(limit + 1), model.slice(begin, begin + limit + 1));
        assert.deepEqual(selection.take(3), model.slice(begin + limit + 1, begin + limit + 4));
        assert.equal(selection.total, Math.min(model.length, most + 1));
        for (const slot of model.slice(begin, begin + 3))
          assert.equal(selection.keyOf(slot), keys[slot] ?? -1);
      }),
      { numRuns: examples(2_500) },
    );
  });
});
