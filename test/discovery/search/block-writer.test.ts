import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BlockWriter } from "../../../src/discovery/search/block-writer.js";
import { type Marks, markOf, NAME, TEXT, WHOLE } from "../../../src/discovery/search/postings.js";
import { Splitter, sortWords, type Texts } from "../../../src/discovery/search/words.js";
import { examples, fc } from "../../support/properties.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(..."abABz09+#-./ é学"), maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(..."aB+ "), minLength: 150, maxLength: 1_000 }),
);
const short = fc.string({ unit: fc.constantFrom(..."abcX1-+#é学𐌰"), maxLength: 50 });
const texts: fc.Arbitrary<Texts> = fc.record({
  owner: short,
  name: short,
  description: fc.option(text),
  topics: fc.array(fc.constantFrom("go", "c-plus-plus", "machineLearning", "学习", "-"), { maxLength: 4 }),
  language: fc.option(fc.constantFrom("C++", "Go", "Jupyter Notebook")),
});

/** The words of repositories in order with their marks, by the rules for one repository. */
function marksOf(repositories: readonly Texts[]): [string, number[]][] {
  const splitter = new Splitter();
  const all = new Map<string, number[]>();
  for (const [position, repository] of repositories.entries()) {
    const { whole, names, terms } = splitter.documentOf(repository);
    const lists = new Map([[whole, WHOLE]]);
    for (const word of names) if (!lists.has(word)) lists.set(word, NAME);
    for (const word of terms.flat()) if (!lists.has(word)) lists.set(word, TEXT);
    lists.delete("");
    for (const [word, list] of lists) {
      const marks = all.get(word) ?? [];
      all.set(word, marks);
      marks.push(markOf(position, list));
    }
  }
  return sortWords(all.keys()).map((word) => [word, all.get(word) ?? []]);
}

const written = (repositories: readonly Texts[]): [string, number[]][] => {
  const writer = new BlockWriter();
  for (const [position, repository] of repositories.entries()) writer.add(position, repository);
  return [...writer.sorted()].map(([word, marks]: [string, Marks]) => [word, [...marks]]);
};

describe("The words of a block", () => {
  test("are those of its repositories, in order, each with its first list", () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 8 }), (repositories) => {
        assert.deepEqual(written(repositories), marksOf(repositories));
      }),
      { numRuns: examples(1_000) },
    );
  });

  test("may be very many, with the same beginning or the same letters", () => {
    const repositories = Array.from({ length: 2_000 }, (_, i): Texts => {
      const description = `prefix${i} ${i.toString(36)} ${i.toString(2)} developer${i % 7}`;
      return { owner: `owner${i % 50}`, name: `App-${i}`, description, topics: [], language: null };
    });
    assert.deepEqual(written(repositories), marksOf(repositories));
  });
});
