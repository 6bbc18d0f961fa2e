import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { badgesOf } from "../../src/web/components/badges.js";
import { formatDate, isOld, relativeTime } from "../../src/web/components/numbers.js";
import { NOW } from "../support/world.js";

describe("Relative times", () => {
  test("count whole hours up to two days, then days", () => {
    for (const [ago, words] of [
      [0, "less than an hour ago"],
      [20 * 60_000, "1 hour ago"],
      [3 * HOUR_MS, "3 hours ago"],
      [47 * HOUR_MS, "47 hours ago"],
      [48 * HOUR_MS, "2 days ago"],
      [91 * DAY_MS, "91 days ago"],
      [1_200 * DAY_MS, "1,200 days ago"],
      [-10 * 60_000, "in less than an hour"],
      [-HOUR_MS, "in 1 hour"],
      [-5 * DAY_MS, "in 5 days"],
    ] as const)
      assert.equal(relativeTime(NOW - ago, NOW), words);
  });

  test("stay the same within an hour, as a cached page does", () => {
    const start = Math.floor(NOW / HOUR_MS) * HOUR_MS;
    for (const at of [start - 1, start - 70 * 60_000, start - 50 * HOUR_MS, start + 2 * HOUR_MS])
      assert.equal(relativeTime(at, start), relativeTime(at, start + HOUR_MS - 1));
  });

  test("measurements are old from 36 hours on", () => {
    assert.equal(isOld(NOW - 36 * HOUR_MS, NOW), false);
    assert.equal(isOld(NOW - 36 * HOUR_MS - 1, NOW), true);
    assert.equal(isOld(null, NOW), false);
  });

  test("days in sentences name the month", () => {
    assert.equal(formatDate(Date.UTC(2026, 8, 1, 23, 59)), "1 Sep 2026");
    assert.equal(formatDate(null), "–");
  });
});

describe("Badges", () => {
  const repository = { availability: "AVAILABLE", archived: false, countedAt: NOW } as const;

  test("a repository without anything to say has none", () => {
    assert.deepEqual(badgesOf({ repository, trends: [undefined, null], isStale: false }), []);
  });

  test("a repository that is listed under an earlier name says so", () => {
    const [badge] = badgesOf({ repository, trends: [], isStale: false, renamedFrom: "o/react" });
    assert.deepEqual(badge, { label: "was o/react", isCaution: false });
  });

  test("what is missing on the forge and what is archived say so", () => {
    for (const availability of ["GONE", "PRIVATE", "BLOCKED", "RENAMED"] as const) {
      const found = badgesOf({
        repository: { ...repository, availability, archived: true },
        trends: [],
        isStale: false,
      });
      assert.deepEqual(
        found.map(({ label, isCaution }) => [label, isCaution]),
        [
          [availability.toLowerCase(), true],
          ["archived", false],
        ],
      );
      assert.ok(found[0]?.reason);
    }
  });
});
