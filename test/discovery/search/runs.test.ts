import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeMarks } from "../../../src/discovery/search/block-writer.js";
import { type Marks, markOf } from "../../../src/discovery/search/postings.js";
import { findInRun, runsOf, wordsIn, wordsOfRun } from "../../../src/discovery/search/runs.js";
import { compareWords, sortWords } from "../../../src/discovery/search/words.js";
import { examples, fc } from "../../support/properties.js";

const word = fc
  .array(fc.constantFrom(..."abcé\u{ffff}\u{e000}\u{1f600}\u{10ffff}学".split(/(?:)/u)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((letters) => letters.join(""));

/** Marks of few documents, or of so many that a list becomes a bitmap. */
const marks = fc
  .tuple(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(9_000)), fc.nat(50), fc.nat(2))
  .map(
    ([count, from, kind]): Marks =>
      Array.from({ length: count }, (_, i) => markOf(from + i * 7, i % 5 === 0 ? kind : 2)),
  );

/** As the decoder gives them: list after list. */
const byList = (all: Marks) => [0, 1, 2].flatMap((list) => [...all].filter((mark) => (mark & 3) === list));

describe("Runs of words", () => {
  test("hold every word with its marks, however long its lists are", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { maxLength: 300 }),
        fc.array(marks, { minLength: 1 }),
        (words, lists) => {
          const sorted = sortWords(words);
          const marksAt = (index: number) => lists[index % lists.length] ?? [];
          const runs = [
            ...runsOf(
              sorted.map((one, i) => [one, i % 2 === 0 ? marksAt(i) : encodeMarks(marksAt(i))] as const),
            ),
          ];
          assert.deepEqual(
            runs.flatMap(({ data }) => wordsIn(data)),
            sorted,
          );
          const read = runs.flatMap(({ data }) => wordsOfRun(data));
          for (const [i, [, stored]] of read.entries())
            assert.deepEqual(stored.decode(), byList(marksAt(i)), sorted[i]);
          for (const { word: first, data } of runs) assert.equal(wordsIn(data)[0], first);
          for (const [i, one] of sorted.entries())
            assert.ok(
              runs.some(({ data }) => findInRun(data, one)?.decode().length === marksAt(i).length),
              one,
            );
        },
      ),
      { numRuns: examples(100) },
    );
  });

  test("are in the order of their bytes in UTF-8, which is that of the database", () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
        assert.equal(Math.sign(compareWords(a, b)), expected);
        assert.deepEqual(sortWords([a, b]), expected > 0 ? [b, a] : [a, b]);
      }),
      { numRuns: examples(2_000) },
    );
  });
});
