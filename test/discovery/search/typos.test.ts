import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isOneErrorAway, Vocabulary } from "../../../src/discovery/search.js";
import { examples, fc } from "../../support/properties.js";

describe("The word nearest to a typing error", () => {
  test("is the most frequent one that is one error away, whatever the words", () => {
    const words = fc
      .array(fc.constantFrom(..."abcé"), { minLength: 3, maxLength: 7 })
      .map((letters) => letters.join(""));
    fc.assert(
      fc.property(fc.uniqueArray(words, { maxLength: 60 }), words, (known, word) => {
        fc.pre(word.length > 3 && !known.includes(word));
        const expected = known.find((other) => isOneErrorAway(word, other));
        assert.equal(
          new Vocabulary(known.map((one, i) => [one, known.length - i])).nearest(word),
          expected,
          `${word} among ${known}`,
        );
      }),
      { numRuns: examples(500) },
    );
  });
});
