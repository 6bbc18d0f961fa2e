import assert from "node:assert/strict";
import { test } from "node:test";
import { otherDaysWords } from "../../src/discovery/discovery.js";

const group = (from: string, repositories: number) => ({
  from: Date.parse(from),
  to: Date.parse(from),
  repositories,
});

test("the words for when repositories were counted number those of other days than the median", () => {
  const asOf = Date.parse("2026-04-30T04:07:00Z");
  const today = [group("2026-04-30T12:10:00Z", 6), group("2026-04-30T04:07:00Z", 3_449)];
  const before = [group("2026-04-29T04:07:00Z", 1_020), group("2026-03-01T04:07:00Z", 180)];
  assert.equal(otherDaysWords({ asOf, measured: today }), "", "all on one day");
  assert.equal(otherDaysWords({ asOf, measured: [...today, ...before] }), "1,200 earlier");
  assert.equal(
    otherDaysWords({ asOf, measured: [group("2026-05-01T00:00:00Z", 6), ...today, ...before] }),
    "1,200 earlier, 6 later",
  );
  assert.equal(otherDaysWords({ asOf: null, measured: [] }), "", "none");
});
