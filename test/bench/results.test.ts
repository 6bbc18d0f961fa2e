import assert from "node:assert/strict";
import { test } from "node:test";
import { absoluteRow, isMet, ratioRow, resultTable } from "../../bench/support/results.js";
import { interleave, middle, quantile, ratios } from "../../bench/support/statistics.js";

test("a quantile is the value at the nearest rank", () => {
  const values = Array.from({ length: 1_000 }, (_, i) => 1_000 - i);
  assert.equal(quantile(values, 0.5), 500);
  assert.equal(quantile(values, 0.99), 990);
  assert.equal(quantile(values, 0.999), 999);
  assert.equal(quantile(values, 1), 1_000);
  assert.equal(quantile([7], 0.99), 7);
});

test("a benchmark in which nothing was measured fails", () => {
  assert.throws(() => quantile([], 0.5), /nothing was measured/);
  assert.throws(() => middle([]), /nothing was measured/);
  assert.throws(() => absoluteRow({ measure: "a list", unit: "ms" }, []), /nothing was measured/);
});

test("each round is compared with the baseline of the same round", () => {
  assert.deepEqual(ratios([10, 30], [20, 20]), [0.5, 1.5]);
  assert.throws(() => ratios([10], [20, 20]), /every round needs its baseline/);
  assert.throws(() => ratios([10], [0]), /the baseline of round 1 is 0/);
  assert.throws(() => ratios([10], [Number.NaN]), /the baseline of round 1 is NaN/);
});

test("rounds alternate the contestants, and reverse their order every other round", async () => {
  const order: string[] = [];
  const run = (name: string) => async (round: number) => {
    order.push(`${name}${round}`);
    return round;
  };
  const values = await interleave(3, { a: run("a"), b: run("b") });
  assert.deepEqual(order, ["a0", "b0", "b1", "a1", "a2", "b2"]);
  assert.deepEqual(values, { a: [0, 1, 2], b: [0, 1, 2] });
});

test("a target holds the ratio of a row, and the value of a row without a baseline", () => {
  const faster = ratioRow(
    { measure: "a list", unit: "requests/s", target: { atLeast: 3 } },
    [200, 330, 310],
    {
      name: "Express",
      values: [100, 100, 100],
    },
  );
  assert.equal(faster.ratio, 3.1);
  assert.deepEqual(faster.spread, [2, 3.3]);
  assert.equal(isMet(faster), true);
  const slow = absoluteRow({ measure: "a page", unit: "ms", target: { atMost: 8 } }, [9, 7, 12]);
  assert.equal(isMet(slow), false);
  assert.equal(isMet(absoluteRow({ measure: "a page", unit: "ms" }, [9])), undefined);
  assert.equal(
    resultTable([faster, slow]).split("\n").slice(2).join("\n"),
    `| a list |  |  | 310 requests/s | Express: 100 | 3.1 (2–3.3) | at least 3 × | met |
| a page |  |  | 9 ms (7–12) |  |  | at most 8 ms | **missed** |
`,
  );
});
