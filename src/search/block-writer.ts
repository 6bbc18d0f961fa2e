import { BLOCK, encodeMarks, type Marks, markOf, NAME, TEXT, WHOLE } from "./postings.js";
import { type Run, runsOf, sortWords } from "./runs.js";
import type { WordDocument } from "./words.js";

/** A prefix of more words of a block than this has lists of its own. */
export const PREFIX_FROM = 200;
/** Shorter prefixes find words of names only: nearly every description has a word with a given letter at its beginning. */
export const TEXT_PREFIX_FROM = 3;

/** Collects the documents of a block, in the order of their positions, and makes the lists of their words and prefixes. */
export class BlockWriter {
  readonly #words = new Map<string, number[]>();

  add(position: number, { whole, names, terms }: WordDocument): void {
    if (whole !== "") this.#mark(whole, markOf(position, WHOLE));
    for (const word of names) this.#mark(word, markOf(position, NAME));
    for (const word of terms) this.#mark(word, markOf(position, TEXT));
  }

  #mark(word: string, mark: number): void {
    const known = this.#words.get(word);
    if (known === undefined) this.#words.set(word, [mark]);
    else known.push(mark);
  }

  sorted(): string[] {
    return sortWords(this.#words.keys());
  }

  marksOf(word: string): Marks {
    return this.#words.get(word) ?? [];
  }

  /** The words with the number of documents that have each. */
  *counts(): Generator<[string, number]> {
    for (const [word, marks] of this.#words) yield [word, marks.length];
  }

  /** The runs of all words, and those of all prefixes of more than PREFIX_FROM words. */
  runs(): { words: Iterable<Run>; prefixes: Iterable<Run> } {
    const sorted = this.sorted();
    const encoded = function* (writer: BlockWriter): Generator<[string, Uint8Array]> {
      for (const word of sorted) yield [word, encodeMarks(writer.marksOf(word))];
    };
    const prefixes = new Map(this.#prefixesOf(sorted));
    const ofPrefixes = sortWords(prefixes.keys()).map((prefix): [string, Uint8Array] => [
      prefix,
      prefixes.get(prefix) ?? encodeMarks([]),
    ]);
    return { words: runsOf(encoded(this)), prefixes: runsOf(ofPrefixes) };
  }

  *#prefixesOf(sorted: readonly string[]): Generator<[string, Uint8Array]> {
    const united = new UnitedMarks();
    // Words with the same beginning are neighbours, so the prefixes form a tree of ranges.
    const waiting: { from: number; to: number; length: number }[] = [
      { from: 0, to: sorted.length, length: 0 },
    ];
    for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
      const { from, to, length } = range;
      const prefix = (sorted[from] ?? "").slice(0, length);
      if (length > 0 && prefix.isWellFormed()) {
        const last = length < TEXT_PREFIX_FROM ? NAME : TEXT;
        for (let i = from; i < to; i++) {
          for (const mark of this.marksOf(sorted[i] ?? "")) if ((mark & 3) <= last) united.add(mark);
        }
        yield [prefix, encodeMarks(united.take())];
      }
      let begin = from;
      while (begin < to && (sorted[begin] ?? "").length <= length) begin++;
      while (begin < to) {
        const unit = (sorted[begin] ?? "").charCodeAt(length);
        let end = begin + 1;
        while (end < to && (sorted[end] ?? "").charCodeAt(length) === unit) end++;
        if (end - begin > PREFIX_FROM) waiting.push({ from: begin, to: end, length: length + 1 });
        begin = end;
      }
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
