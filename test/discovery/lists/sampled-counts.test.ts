import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CountMemory, countFacets } from "../../../src/discovery/lists/index/counts.js";
import { encodeOrder } from "../../../src/discovery/lists/index/encode.js";
import { LISTED, type Names, type Parts } from "../../../src/discovery/lists/index/parts.js";
import { listOf } from "../../support/lists.js";

/** Three times as many as are read. */
const SLOTS = 3 * 64 * 4_096;
const LANGUAGES = ["Rust", "Go", "Zig"];

const nothing = { offsets: new Uint32Array(1), slots: new Uint32Array(0) };
const namesOf = (names: readonly string[], codeOf: (slot: number) => number): Names => ({
  codes: Uint16Array.from({ length: SLOTS }, (_, slot) => codeOf(slot)),
  names,
  isComplete: true,
});

/** Slots with as many stars as their number says; half of them are in Rust, a third in Go, the others in Zig. */
function partsOf(): Parts {
  const languages = namesOf(LANGUAGES, (slot) => [1, 1, 1, 2, 2, 3][slot % 6] ?? 0);
  const slots = Uint32Array.from({ length: SLOTS }, (_, i) => SLOTS - 1 - i);
  const order = encodeOrder(
    { slots, keys: Float64Array.from(slots) },
    { slots: SLOTS, keepsUnknown: true, isFilter: true },
  );
  const all = Uint32Array.from({ length: SLOTS }, (_, slot) => slot);
  return {
    facts: {
      slots: SLOTS,
      flags: new Uint8Array(SLOTS).fill(LISTED),
      providers: namesOf(["GITHUB"], () => 1),
      languages,
      licenses: namesOf([], () => 0),
      byProvider: { ...nothing, leftOut: 0 },
      byLanguage: { offsets: Uint32Array.of(0, SLOTS / 2, (SLOTS / 6) * 5, SLOTS), slots: all },
      byLicense: nothing,
      archived: new Uint32Array(0),
      forks: new Uint32Array(0),
    },
    trust: new Uint8Array(SLOTS),
    topics: { names: ["all"], offsets: Uint32Array.of(0, SLOTS), slots: all },
    orders: new Map(["stars", "created", "pushed"].map((name) => [name, order])),
  };
}

describe("The counts of a list with very many repositories", () => {
  const request = { minStars: [0, SLOTS / 2], createdAfter: [], pushedAfter: [], values: 2 };
  const parts = partsOf();
  const count = (filters = {}) =>
    countFacets(parts, listOf({ filters }), {
      ids: { rareTopics: [] },
      request,
      memory: new CountMemory(),
    });

  test("are estimated from a part, say so, and have two digits", () => {
    const counts = count();
    const rounded = (value: number) => Number(value.toPrecision(2));
    assert.deepEqual(counts?.languages, {
      precision: "sampled",
      values: [
        { name: "Rust", count: rounded(SLOTS / 2) },
        { name: "Go", count: rounded(SLOTS / 3) },
      ],
    });
    assert.deepEqual(counts?.topics.values, [{ name: "all", count: rounded(SLOTS) }]);
    assert.deepEqual(counts?.minStars.counts[0], rounded(SLOTS));
    const half = counts?.minStars.counts[1] ?? 0;
    assert.ok(Math.abs(half - SLOTS / 2) < SLOTS / 50, `${half} are about half`);
  });

  test("are exact where a filter leaves few", () => {
    const counts = count({ minStars: SLOTS - 600 });
    assert.deepEqual(counts?.languages, {
      precision: "exact",
      values: [
        { name: "Rust", count: 300 },
        { name: "Go", count: 200 },
      ],
    });
    assert.equal(counts?.minStars.precision, "sampled", "without the filter on stars, all match");
  });
});
