import { BLOCK, encodeMarks, type Marks, markOf, NAME, TEXT, WHOLE } from "./postings.js";
import { type Run, runsOf, sortWords } from "./runs.js";
import type { WordDocument } from "./words.js";

/** A prefix has lists of its own if more words of a block than this begin with it. */
export const PREFIX_FROM = 200;
/** Shorter prefixes find words of names only: nearly every description has a word with a given letter at its beginning. */
export const TEXT_PREFIX_FROM = 3;

/** Collects the documents of a block, in the order of their positions, and makes the lists of their words and prefixes. */
export class BlockWriter {
  readonly #words = new Map<string, number[]>();

  add(position: number, { whole, names, terms }: WordDocument): void {
    this.#mark(whole, position, WHOLE);
    for (const word of names) this.#mark(word, position, NAME);
    for (const words of terms) for (const word of words) this.#mark(word, position, TEXT);
  }

  /** Marks a word of the last document, unless it has come before. */
  #mark(word: string, position: number, list: number): void {
    const known = this.#words.get(word);
    if (known === undefined) {
      if (word !== "") this.#words.set(word, [markOf(position, list)]);
    } else if ((known[known.length - 1] ?? 0) >> 2 !== position) known.push(markOf(position, list));
  }

  /** The words in order, with their marks. */
  sorted(): MarkedWord[] {
    return sortWords(this.#words.keys()).map((word) => ({ word, marks: this.#words.get(word) ?? [] }));
  }

  /** The words with the number of documents that have each. */
  *counts(): Generator<[string, number]> {
    for (const [word, marks] of this.#words) yield [word, marks.length];
  }

  /** The runs of all words, and those of all prefixes of more than PREFIX_FROM words. */
  runs(): { words: Iterable<Run>; prefixes: Iterable<Run> } {
    const sorted = this.sorted();
    const words = function* (): Generator<[string, Marks]> {
      for (const { word, marks } of sorted) yield [word, marks];
    };
    const prefixes = new Map(prefixesOf(sorted));
    const ofPrefixes = sortWords(prefixes.keys()).map((prefix): [string, Uint8Array] => [
      prefix,
      prefixes.get(prefix) ?? encodeMarks([]),
    ]);
    return { words: runsOf(words()), prefixes: runsOf(ofPrefixes) };
  }
}

interface MarkedWord {
  word: string;
  marks: Marks;
}

function* prefixesOf(sorted: readonly MarkedWord[]): Generator<[string, Uint8Array]> {
  const united = new UnitedMarks();
  const wordAt = (index: number) => sorted[index]?.word ?? "";
  // Words with the same beginning are neighbours, so the prefixes form a tree of ranges.
  const waiting: { from: number; to: number; length: number }[] = [{ from: 0, to: sorted.length, length: 0 }];
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
    const { from, to, length } = range;
    const prefix = wordAt(from).slice(0, length);
    if (length > 0 && prefix.isWellFormed()) {
      const last = length < TEXT_PREFIX_FROM ? NAME : TEXT;
      for (let i = from; i < to; i++)
        for (const mark of sorted[i]?.marks ?? []) if ((mark & 3) <= last) united.add(mark);
      yield [prefix, encodeMarks(united.take())];
    }
    let begin = from;
    while (begin < to && wordAt(begin).length <= length) begin++;
    while (begin < to) {
      const unit = wordAt(begin).charCodeAt(length);
      let end = begin + 1;
      while (end < to && wordAt(end).charCodeAt(length) === unit) end++;
      if (end - begin > PREFIX_FROM) waiting.push({ from: begin, to: end, length: length + 1 });
      begin = end;
    }
  }
}

/** The union of marks: a position is in the first list that has it. */
export class UnitedMarks {
  /** For each position its list plus one. */
  readonly #lists = new Uint8Array(BLOCK);
  /** One bit for each position, so that the few in use are found quickly. */
  readonly #used = new Uint32Array(BLOCK / 32);

  add(mark: number): void {
    const position = mark >> 2;
    const list = (mark & 3) + 1;
    const known = this.#lists[position] ?? 0;
    if (known !== 0 && known <= list) return;
    this.#lists[position] = list;
    this.#used[position >> 5] = (this.#used[position >> 5] ?? 0) | (1 << (position & 31));
  }

  /** The marks; afterwards this is empty. */
  take(): number[] {
    const marks: number[] = [];
    for (let i = 0; i < this.#used.length; i++) {
      for (let bits = this.#used[i] ?? 0; bits !== 0; bits &= bits - 1) {
        const position = i * 32 + (31 - Math.clz32(bits & -bits));
        marks.push(markOf(position, (this.#lists[position] ?? 0) - 1));
        this.#lists[position] = 0;
      }
      this.#used[i] = 0;
    }
    return marks;
  }
}
