import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { whySentence, whyWords } from "../../../src/growth/words.js";
import { HOUR_MS } from "../../../src/lib/clock.js";
import { NOW } from "../../support/world.js";

const trend = {
  window: "24h",
  from: NOW - 24 * HOUR_MS,
  to: NOW,
  starsFrom: 108_659,
  starsDelta: 2_909,
  forksDelta: 120,
  usualPerDay: 400,
  confidence: 1,
} as const;

describe("Why a repository is in a list", () => {
  test("names both counts, the time between, the usual day and the confidence", () => {
    assert.equal(
      whySentence(trend, "stars"),
      "108,659 → 111,568 in 24.0 h · 7.3× its usual day · confidence 1.00",
    );
  });

  test("says nothing of a usual day that is not known", () => {
    assert.equal(
      whySentence({ ...trend, usualPerDay: null, confidence: 0.5 }, "stars"),
      "108,659 → 111,568 in 24.0 h · confidence 0.50",
    );
  });

  test("gives long times in days, and losses as they are", () => {
    const week = { ...trend, from: NOW - 168 * HOUR_MS, starsDelta: -659 };
    assert.equal(whyWords(week, "stars").compared, "108,659 → 108,000 in 7.0 days");
  });

  test("gives forks as a gain, and stars where forks are not known", () => {
    assert.equal(whySentence(trend, "forks"), "+120 forks in 24.0 h · confidence 1.00");
    assert.match(whySentence({ ...trend, forksDelta: null }, "forks"), /^108,659 → 111,568/);
  });
});
