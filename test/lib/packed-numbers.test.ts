import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { type Column, DamagedPack, PackReader, PackWriter } from "../../src/lib/packed-numbers.js";
import { examples, fc } from "../support/properties.js";

const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 31, 32, -32, -33, 1e12, -1e12),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -1e12, max: 1e12 }),
);
const shape = fc.record({
  isEven: fc.boolean(),
  before: number,
  shift: number,
  stride: fc.integer({ min: 1, max: 4 }),
});

test("columns and numbers are read as they were written, in the order of writing", () => {
  const writer = new PackWriter();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(number, { maxLength: 200 }), shape, fc.nat(Number.MAX_SAFE_INTEGER)), {
        maxLength: 5,
      }),
      (columns) => {
        const columnOf = (
          values: readonly number[],
          { stride, ...rest }: (typeof columns)[number][1],
        ): Column => ({
          ...rest,
          stride,
          index: 1,
          count: values.length,
        });
        for (const [values, given, single] of columns) {
          const spread = [-7, ...values.flatMap((value) => [value, ...new Array(given.stride - 1).fill(-7)])];
          writer.number(single);
          writer.column(spread, columnOf(values, given));
        }
        const reader = new PackReader(writer.finish());
        for (const [values, given, single] of columns) {
          assert.equal(reader.number(), single);
          const target = new Array(1 + values.length * given.stride).fill(-7);
          reader.column(target, columnOf(values, given));
          assert.deepEqual(target, [
            -7,
            ...values.flatMap((value) => [value, ...new Array(given.stride - 1).fill(-7)]),
          ]);
        }
        reader.end();
      },
    ),
    { numRuns: examples(1_000) },
  );
});

test("numbers that could not be read again are refused, and the writer stays usable", () => {
  const writer = new PackWriter();
  for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    writer.number(1);
    assert.throws(() => writer.column([bad], { index: 0, stride: 1, count: 1 }), RangeError, String(bad));
  }
  writer.number(5);
  const reader = new PackReader(writer.finish());
  assert.equal(reader.number(), 5);
  reader.end();
});

test("whatever the bytes, reading ends, stays within the column, and fails only with DamagedPack", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.integer({ min: 0, max: 300 }),
      fc.boolean(),
      (body, count, isEven) => {
        const data = new Uint8Array([1, 0, 0, 0, 0, ...body]);
        new DataView(data.buffer).setUint32(1, crc32(body), true);
        const target = new Float64Array(2 * count + 2).fill(-5);
        try {
          const reader = new PackReader(data);
          reader.column(target, { index: 1, stride: 2, count, isEven });
          reader.number();
          reader.end();
        } catch (error) {
          assert.ok(error instanceof DamagedPack);
        }
        assert.ok(target.every((value, i) => (i % 2 === 1 && i < 1 + 2 * count ? true : value === -5)));
      },
    ),
    { numRuns: examples(5_000) },
  );
});
