import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crc32 } from "node:zlib";
import { DAY_MS } from "../../src/lib/clock.js";
import { EARLIEST, LATEST, MAX_COUNT } from "../../src/repositories/record-rules.js";
import {
  type BlockRow,
  DamagedBlock,
  decodeBlock,
  encodeBlock,
  MAX_BLOCK_SNAPSHOTS,
  Readings,
  readingsOf,
  UNKNOWN,
} from "../../src/repositories/snapshots/readings.js";
import { examples, fc } from "../support/properties.js";

const count = fc.oneof(
  fc.constantFrom(0, UNKNOWN, MAX_COUNT),
  fc.integer({ min: 0, max: 1_000 }),
  fc.integer({ min: 0, max: MAX_COUNT }),
);
const time = fc.oneof(
  fc.integer({ min: 0, max: 300 }).map((day) => EARLIEST + day * DAY_MS),
  fc.integer({ min: EARLIEST, max: LATEST }),
  fc.constantFrom(0, 1, LATEST),
);
const stars = count.map((value) => Math.max(0, value));
const rows = fc.array(fc.tuple(time, stars, count, count, count, fc.integer({ min: 0, max: 2 })), {
  minLength: 1,
  maxLength: 300,
});

function blockOf(readings: Readings): BlockRow {
  const { length } = readings;
  const data = encodeBlock(readings);
  return { repositoryId: 7, fromAt: readings.at(0), toAt: readings.at(length - 1), snapshots: length, data };
}

function decoded(block: BlockRow, width = 6): number[] {
  const readings = Readings.ofLength(block.snapshots, width);
  decodeBlock(block, readings);
  return [...readings.numbers];
}

/** Days with few stars gained, as most repositories have. */
const quiet = readingsOf(Array.from({ length: 90 }, (_, i) => [i * DAY_MS, 50 + (i >> 4), 3, 2, UNKNOWN, 1]));

describe("A block of snapshots", () => {
  test("returns every number it was made from, whatever the histories", () => {
    fc.assert(
      fc.property(rows, (given) => {
        const readings = readingsOf(given).slice(0, Math.min(MAX_BLOCK_SNAPSHOTS, readingsOf(given).length));
        const block = blockOf(readings);
        assert.deepEqual(decoded(block), [...readings.numbers]);
        const narrow = Array.from({ length: readings.length }, (_, i) => [readings.at(i), readings.stars(i)]);
        assert.deepEqual(decoded(block, 2), narrow.flat());
      }),
      { numRuns: examples(1_000) },
    );
  });

  test("is decoded into the middle of other readings and changes nothing around it", () => {
    const target = new Readings(new Float64Array(6 * 92).fill(-5));
    decodeBlock(blockOf(quiet), target, 1);
    assert.deepEqual([...target.slice(1, 91).numbers], [...quiet.numbers]);
    assert.deepEqual([...target.slice(0, 1).numbers, ...target.slice(91).numbers], new Array(12).fill(-5));
  });

  test("takes less than a byte a snapshot when little happens", () => {
    assert.ok(encodeBlock(quiet).length < 45, String(encodeBlock(quiet).length));
  });

  test("cannot be made of numbers it could not return", () => {
    for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => encodeBlock(readingsOf([[1, bad, 0, 0, 0, 0]])), RangeError, String(bad));
    }
    assert.throws(() => encodeBlock(Readings.ofLength(MAX_BLOCK_SNAPSHOTS + 1)), RangeError);
  });
});

describe("A damaged block", () => {
  const block = blockOf(quiet);
  const isRefused = (damaged: BlockRow) =>
    assert.throws(
      () => decoded(damaged),
      (error) =>
        error instanceof DamagedBlock && /repository 7 is damaged, .* that begins at 0 /.test(error.message),
    );

  test("is refused by name when it is cut off at any byte", () => {
    for (let end = 0; end < block.data.length; end++)
      isRefused({ ...block, data: block.data.subarray(0, end) });
  });

  test("is refused by name when any bit is flipped", () => {
    for (let bit = 0; bit < 8 * block.data.length; bit++) {
      const data = block.data.slice();
      data[bit >> 3] = (data[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      isRefused({ ...block, data });
    }
  });

  test("is refused by name when it does not fit its row", () => {
    isRefused({ ...block, snapshots: block.snapshots - 1, toAt: block.toAt - DAY_MS });
    isRefused({ ...block, snapshots: block.snapshots + 1 });
    isRefused({ ...block, toAt: block.toAt + 1 });
    isRefused({ ...block, snapshots: 0 });
    isRefused({ ...block, data: block.data.with(0, 2) });
  });

  test("never leads outside its snapshots or into an endless loop, even with a matching checksum", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 256 }), (body, snapshots) => {
        const data = new Uint8Array([1, 0, 0, 0, 0, ...body]);
        new DataView(data.buffer).setUint32(1, crc32(body), true);
        const target = new Readings(new Float64Array(6 * (snapshots + 2)).fill(-5));
        try {
          decodeBlock({ repositoryId: 7, fromAt: 0, toAt: 1, snapshots, data }, target, 1);
        } catch (error) {
          assert.ok(error instanceof DamagedBlock);
        }
        for (const edge of [target.slice(0, 1), target.slice(snapshots + 1)])
          assert.deepEqual([...edge.numbers], new Array(6).fill(-5));
      }),
      { numRuns: examples(5_000) },
    );
  });
});
