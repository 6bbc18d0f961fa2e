import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { whySentence, whyWords } from "../../src/growth/words.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { NOW } from "../support/world.js";

const trend = {
  window: "24h",
  from: NOW - 24 * HOUR_MS,
  to: NOW,
  starsFrom: 108_659,
  starsDelta: 2_909,
  forksDelta: 120,
  usualPerDay: 400,
  confidence: 0.9,
} as const;

describe("Why a repository is in a list", () => {
  test("names both counts, the time between and how unusual it is", () => {
    assert.equal(whySentence(trend), "108,659 → 111,568 in 24 h · 7.3× its usual day");
  });

  test("says nothing of a usual day that is not known or much the same, and of confidence only that it is low", () => {
    const unsure = { ...trend, usualPerDay: null, confidence: 0.3 };
    assert.equal(whySentence(unsure), "108,659 → 111,568 in 24 h · low confidence");
    assert.equal(whySentence({ ...trend, usualPerDay: 2_800 }), "108,659 → 111,568 in 24 h");
  });

  test("gives long times in days, and losses as they are", () => {
    const week = { ...trend, from: NOW - 168 * HOUR_MS, starsDelta: -659 };
    assert.equal(whyWords(week, "stars").compared, "108,659 → 108,000 in 7 days");
  });

  test("gives forks as a gain, and stars if forks are not known", () => {
    assert.equal(whyWords(trend, "forks").compared, "+120 forks in 24 h");
    assert.match(whyWords({ ...trend, forksDelta: null }, "forks").compared, /^108,659 → 111,568/);
  });
});
