import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyedHash } from "../../src/metering/allowance-table.js";

const hex = (value: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString("hex");
};

test("the hash is HalfSipHash-2-4 with 64 bits, as its authors' test vectors have it", () => {
  const hash = new KeyedHash([0x03020100, 0x07060504]);
  const vectors = ["218d1f59b9b83cc8", "be552412f8387315", "064f39ef7c50eb57", "ce0f1a45f7060679"];
  const longer = {
    4: "d5e78a175be52ea1",
    7: "ff202728b07bc684",
    8: "ed fe e8 20 bc e4 85 8c".replaceAll(" ", ""),
  };
  for (const [length, expected] of [...vectors.entries(), ...Object.entries(longer)]) {
    hash.hash(String.fromCharCode(...Array.from({ length: Number(length) }, (_, i) => i)));
    assert.equal(hex(hash.low) + hex(hash.high), expected, `${length} bytes`);
  }
});

test("another key makes another hash", () => {
  const [one, two] = [new KeyedHash([1, 2]), new KeyedHash([1, 3])];
  one.hash("default anonymous 192.0.2.1");
  two.hash("default anonymous 192.0.2.1");
  assert.notEqual(one.low, two.low);
  assert.notEqual(one.high, two.high);
});
