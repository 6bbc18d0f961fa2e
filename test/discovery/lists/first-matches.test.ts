import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RangeCondition } from "../../../src/discovery/lists/index/conditions.js";
import { encodeOrder } from "../../../src/discovery/lists/index/encode.js";
import { candidatesOf } from "../../../src/discovery/lists/index/filters.js";
import { firstMatches } from "../../../src/discovery/lists/index/matches.js";
import { Positions } from "../../../src/discovery/lists/index/positions.js";
import { examples, fc } from "../../support/properties.js";

/** Several blocks, the last one incomplete. */
const SLOTS = 18_000;

/** Keys that repeat, are scattered, follow the ids in either direction, or are unknown for some. */
const KEYS: readonly ((slot: number) => number | null)[] = [
  (slot) => slot % 3,
  (slot) => (slot * 7_919) % 1_009,
  (slot) => slot,
  (slot) => SLOTS - slot,
  (slot) => (slot % 4 === 0 ? null : (slot * 31) % 50),
];
const ORDERS = KEYS.map((keyOf) => {
  const keys = Array.from({ length: SLOTS }, (_, slot) => keyOf(slot));
  const known = [...keys.keys()].filter((slot) => keys[slot] !== null);
  known.sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || b - a);
  const sorted = {
    slots: Uint32Array.from(known),
    keys: Float64Array.from(known, (slot) => keys[slot] ?? 0),
  };
  const unknown = [...keys.keys()].filter((slot) => keys[slot] === null);
  const order = encodeOrder(sorted, { slots: SLOTS, keepsUnknown: true, isFilter: true });
  return { keys, known, unknown, order, cells: order.cells ?? assert.fail() };
});
/** What conditions compare: unlike any order. */
const FACTS = Uint16Array.from({ length: SLOTS }, (_, slot) => (slot * 104_729) % 1_000);

describe("The first matches of a list", () => {
  test("are what plain filtering and sorting gives, whichever blocks they are in", () => {
    const cases = fc.record({
      which: fc.nat(ORDERS.length - 1),
      isAscending: fc.boolean(),
      share: fc.constantFrom(0, 5, 300, 1_000),
      isAmong: fc.boolean(),
      count: fc.constantFrom(1, 26, 226, 3_000),
      begin: fc.option(fc.nat(SLOTS - 1)),
    });
    fc.assert(
      fc.property(cases, ({ which, isAscending, share, isAmong, count, begin }) => {
        const { keys, known, unknown, order, cells } = ORDERS[which] ?? assert.fail();
        const list = isAscending ? [...known.toReversed(), ...unknown] : [...known, ...unknown.toReversed()];
        const isMatch = (slot: number) => (FACTS[slot] ?? 0) <= share && (!isAmong || slot % 2 === 0);
        const positions = new Positions(order, cells, isAscending ? "asc" : "desc");
        const row = begin === null ? undefined : list[begin];
        const found = firstMatches({
          searched: {
            conditions: [new RangeCondition(FACTS, 0, share)],
            candidates: isAmong
              ? candidatesOf(Uint32Array.from({ length: SLOTS / 2 }, (_, i) => 2 * i))
              : undefined,
            slots: SLOTS,
          },
          cells,
          positions,
          after: row === undefined ? -1 : positions.upTo({ sortKey: keys[row] ?? -1, id: row }),
          count,
        });
        const from = begin === null ? 0 : begin + 1;
        assert.deepEqual(found, list.slice(from).filter(isMatch).slice(0, count));
      }),
      { numRuns: examples(3_000) },
    );
  });
});
