import assert from "node:assert/strict";
import { test } from "node:test";
import { measuredWords } from "../../src/discovery/discovery.js";

const group = (from: string, repositories: number) => ({
  from: Date.parse(from),
  to: Date.parse(from),
  repositories,
});

test("the words for when repositories were counted name the parts that matter, and number the rest", () => {
  const measured = [
    group("2026-04-30T12:10:00Z", 6),
    group("2026-04-30T04:07:00Z", 3_449),
    group("2026-04-29T04:07:00Z", 20),
    group("2026-03-01T04:07:00Z", 180),
  ];
  assert.equal(
    measuredWords(measured, Date.parse("2026-04-30T12:20:00Z")),
    "6 in the last hour, 3,449 today at 04:07 UTC, 200 before",
  );
  assert.equal(
    measuredWords(measured.slice(1, 3), null),
    "3,449 on 30 Apr 2026 at 04:07 UTC, 20 before",
    "however few they are",
  );
  assert.equal(measuredWords(measured.slice(1, 2), null), "", "all at once");
});
