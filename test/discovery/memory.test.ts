import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Derived, ReadModel, Steps } from "../../src/discovery/model.js";
import {
  firstOf,
  type Order,
  type Place,
  SlotSet,
  sortSlots,
  walkSorted,
} from "../../src/discovery/slots.js";
import { ManualClock } from "../support/manual-clock.js";
import { examples, fc } from "../support/properties.js";
import { NOW } from "../support/world.js";

const SLOTS = 200;

function run<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Few numbers, so that most slots share theirs; 0 is unknown. */
const columns = fc.array(fc.constantFrom(0, 0, 1, 2, 2, 7, 4_294_967_295), {
  minLength: SLOTS,
  maxLength: SLOTS,
});
const members = fc.uniqueArray(fc.nat(SLOTS - 1), { maxLength: SLOTS });

describe("The first slots of an order", () => {
  test("are the same by looking at each, along sorted slots, and by plain sorting, from any place on", () => {
    fc.assert(
      fc.property(
        columns,
        members,
        fc.uniqueArray(fc.nat(9_999), { minLength: SLOTS, maxLength: SLOTS }),
        fc.record({
          direction: fc.constantFrom("asc" as const, "desc" as const),
          count: fc.integer({ min: 1, max: SLOTS + 5 }),
          from: fc.option(fc.nat(SLOTS - 1), { nil: undefined }),
          isOfTimes: fc.boolean(),
        }),
        (drawn, chosen, ids, { direction, count, from, isOfTimes }) => {
          const numbers = isOfTimes
            ? Float64Array.from(drawn, (number) => 40_000 * number)
            : Uint32Array.from(drawn);
          const order: Order = {
            numbers,
            id: Float64Array.from(ids),
            least: 0,
            unknown: 0,
          };
          const set = new SlotSet(SLOTS);
          for (const slot of chosen) set.add(slot);
          const place = (slot: number): Place => ({ number: numbers[slot] ?? 0, id: ids[slot] ?? 0 });
          const sign = direction === "desc" ? -1 : 1;
          const compare = (a: Place, b: Place) => {
            if ((a.number === 0) !== (b.number === 0)) return a.number === 0 ? 1 : -1;
            return sign * (a.number - b.number || a.id - b.id);
          };
          const after = from === undefined ? undefined : place(from);
          const expected = chosen
            .filter((slot) => after === undefined || compare(place(slot), after) > 0)
            .sort((a, b) => compare(place(a), place(b)))
            .slice(0, count);
          const options = { direction, count, after };
          assert.deepEqual(firstOf(set, order, options), expected);
          const sorted = { ...order, sorted: run(sortSlots(order, SLOTS)) };
          assert.deepEqual(walkSorted(set, sorted, { ...options, most: SLOTS + 1 }), expected);
          // Few steps may not be enough; then nothing is found.
          const few = walkSorted(set, sorted, { ...options, most: 20 });
          if (few !== undefined) assert.deepEqual(few, expected);
        },
      ),
      { numRuns: examples(2_000) },
    );
  });
});

describe("A set of slots", () => {
  test("keeps what plain filtering keeps, in dense and in sparse words", () => {
    fc.assert(
      fc.property(columns, members, fc.nat(8), fc.nat(8), (numbers, chosen, first, last) => {
        const all = new SlotSet(SLOTS);
        for (const slot of chosen) all.add(slot);
        const kept = (set: SlotSet) => {
          const found: number[] = [];
          set.forBlocks((slots, count) => found.push(...slots.subarray(0, count)));
          assert.equal(set.size, found.length);
          return found;
        };
        const expected = (isKept: (number: number) => boolean) =>
          chosen.filter((slot) => isKept(numbers[slot] ?? 0)).sort((a, b) => a - b);
        const copy = () => new SlotSet(SLOTS).copy(all);
        const isIn = (number: number) => number >= first && number <= last;
        assert.deepEqual(kept(copy().keepRange(Float64Array.from(numbers), first, last)), expected(isIn));
        const codes = Uint16Array.from(numbers, (number) => number % 8);
        const wanted = Uint8Array.from({ length: 8 }, (_, code) => Number(code >= first));
        assert.deepEqual(
          kept(copy().keepCodes(codes, wanted)),
          expected((number) => number % 8 >= first),
        );
      }),
      { numRuns: examples(1_000) },
    );
  });
});

describe("A derived value", () => {
  test("of a large source may be an earlier one, and says when it is replaced", async () => {
    const source = { version: 1, isLarge: true, replaced: 0 };
    const value = new Derived(source, new Steps(new ManualClock(NOW)), function* () {
      const { version } = source;
      yield;
      return version;
    });
    assert.equal(await value.get(), 1);
    source.version = 2;
    assert.equal(value.known, undefined);
    assert.equal(await value.get(), 1);
    assert.equal(await value.exact(), 2);
    assert.equal(source.replaced, 1);
    source.isLarge = false;
    source.version = 3;
    assert.equal(await value.get(), 3);
    assert.equal(source.replaced, 1);
  });
});

describe("An evaluation", () => {
  test("is one at a time, waits for nothing, and its sets end with it", async () => {
    const model = await ReadModel.load((async function* () {})(), new Steps(new ManualClock(NOW)));
    assert.throws(
      () => model.evaluate(() => model.evaluate(() => 1)),
      /an evaluation began within another one/,
    );
    assert.throws(() => model.evaluate((evaluation) => evaluation).set(), /no evaluation runs/);
    // @ts-expect-error The catalogue may change while a promise waits.
    await model.evaluate(async () => 1);
    assert.equal(
      model.evaluate((evaluation) => evaluation.set().size),
      0,
      "one that threw has ended",
    );
  });
});
