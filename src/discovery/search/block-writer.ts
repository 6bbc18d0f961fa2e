import { enlarged, Lexicon } from "./lexicon.js";
import { BLOCK, type Marks, markOf, NAME, roomForMarks, TEXT, WHOLE, writeMarks } from "./postings.js";
import { type Run, runsOf } from "./runs.js";
import { CAPITAL_INSIDE, nameWords, sortWords, type Texts } from "./words.js";

/** A prefix has lists of its own if more words of a block than this begin with it. */
const PREFIX_FROM = 200;
/** Shorter prefixes find words of names only: nearly every description has a word with a given letter at its beginning. */
export const TEXT_PREFIX_FROM = 3;

/** Collects the repositories of a block, in the order of their positions, and makes the lists of their words and prefixes. */
export class BlockWriter {
  readonly #lexicon = new Lexicon();
  /** The words of topics and languages, which repeat. */
  readonly #topics = new Map<string, Uint32Array>();
  readonly #languages = new Map<string, Uint32Array>();
  /** By word: the position after the last one where it occurs. */
  #next = new Uint32Array(1_024);
  /** Occurrences by position: the word and the mark of each. */
  #words = new Uint32Array(4_096);
  #marks = new Uint32Array(4_096);
  #count = 0;

  /** Marks what `Splitter` splits a repository into, without making strings of it. */
  add(position: number, { owner, name, description, topics, language }: Texts): void {
    const lexicon = this.#lexicon;
    this.#markName(name, position, WHOLE);
    this.#markName(owner, position, NAME);
    if (description !== null) this.#markAll(lexicon.read(description), position);
    for (const topic of topics) {
      let words = this.#topics.get(topic);
      if (words === undefined) {
        words = Uint32Array.from(nameWords(topic).filter(Boolean), (word) => lexicon.numberOf(word));
        this.#topics.set(topic, words);
      }
      this.#markAll(words, position);
    }
    if (language === null) return;
    let words = this.#languages.get(language);
    if (words === undefined) {
      words = lexicon.read(language).slice();
      this.#languages.set(language, words);
    }
    this.#markAll(words, position);
  }

  /** `whole`: the list of the first word, which is all of the name. */
  #markName(name: string, position: number, whole: number): void {
    if (!CAPITAL_INSIDE.test(name)) {
      // Most names are one word.
      const own = this.#lexicon.read(name);
      if (own.length === 1) {
        this.#mark(own[0] ?? 0, position, whole);
        return;
      }
    }
    for (const [i, word] of nameWords(name).entries())
      if (word !== "") this.#mark(this.#lexicon.numberOf(word), position, i === 0 ? whole : NAME);
  }

  #markAll(words: Uint32Array, position: number): void {
    for (let i = 0; i < words.length; i++) this.#mark(words[i] ?? 0, position, TEXT);
  }

  /** Marks a word of the last repository, unless it has come before. */
  #mark(word: number, position: number, list: number): void {
    if (word >= this.#next.length) this.#next = enlarged(this.#next, word + 1);
    if (this.#next[word] === position + 1) return;
    this.#next[word] = position + 1;
    const count = this.#count++;
    if (count === this.#marks.length) {
      this.#words = enlarged(this.#words, count + 1);
      this.#marks = enlarged(this.#marks, count + 1);
    }
    this.#words[count] = word;
    this.#marks[count] = markOf(position, list);
  }

  /** The words of all repositories in order. */
  sorted(): SortedWords {
    const lexicon = this.#lexicon;
    const order = lexicon.sorted();
    const rankOf = new Uint32Array(order.length);
    for (let rank = 0; rank < order.length; rank++) rankOf[order[rank] ?? 0] = rank;
    const offsets = new Uint32Array(order.length + 1);
    for (let i = 0; i < this.#count; i++) {
      const after = (rankOf[this.#words[i] ?? 0] ?? 0) + 1;
      offsets[after] = (offsets[after] ?? 0) + 1;
    }
    for (let i = 1; i < offsets.length; i++) offsets[i] = (offsets[i] ?? 0) + (offsets[i - 1] ?? 0);
    const ends = offsets.slice();
    const marks = new Uint32Array(this.#count);
    for (let i = 0; i < this.#count; i++) {
      const rank = rankOf[this.#words[i] ?? 0] ?? 0;
      const end = ends[rank] ?? 0;
      marks[end] = this.#marks[i] ?? 0;
      ends[rank] = end + 1;
    }
    return new SortedWords(
      Array.from(order, (word) => lexicon.word(word)),
      offsets,
      marks,
    );
  }
}

/** The words of a block in order, with their marks: those of the word at an index are from `offsets[index]` on. */
class SortedWords {
  readonly words: readonly string[];
  readonly #offsets: Uint32Array;
  readonly #marks: Uint32Array;

  constructor(words: readonly string[], offsets: Uint32Array, marks: Uint32Array) {
    this.words = words;
    this.#offsets = offsets;
    this.#marks = marks;
  }

  /** The marks of the words from one index to before another. */
  marks(from: number, to = from + 1): Uint32Array {
    return this.#marks.subarray(this.#offsets[from], this.#offsets[to]);
  }

  *[Symbol.iterator](): Generator<[string, Uint32Array]> {
    for (const [i, word] of this.words.entries()) yield [word, this.marks(i)];
  }

  /** The words with the number of documents that have each. */
  *counts(): Generator<[string, number]> {
    for (const [i, word] of this.words.entries()) yield [word, this.marks(i).length];
  }

  /** The runs of all words, and those of all prefixes of more than PREFIX_FROM words. */
  runs(): { words: Iterable<Run>; prefixes: Iterable<Run> } {
    const prefixes = new Map(prefixesOf(this));
    const ofPrefixes = sortWords(prefixes.keys()).map((prefix): [string, Uint8Array] => [
      prefix,
      prefixes.get(prefix) ?? encodeMarks([]),
    ]);
    return { words: runsOf(this), prefixes: runsOf(ofPrefixes) };
  }
}

/** The lists of marks as bytes of their own. */
export function encodeMarks(marks: Marks): Uint8Array {
  const bytes = new Uint8Array(roomForMarks(marks.length));
  return bytes.slice(0, writeMarks(bytes, 0, marks));
}

function* prefixesOf(sorted: SortedWords): Generator<[string, Uint8Array]> {
  const united = new UnitedMarks();
  const { words } = sorted;
  const wordAt = (index: number) => words[index] ?? "";
  // Words with the same beginning are neighbours, so the prefixes form a tree of ranges.
  const waiting: { from: number; to: number; length: number }[] = [{ from: 0, to: words.length, length: 0 }];
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
    const { from, to, length } = range;
    const prefix = wordAt(from).slice(0, length);
    if (length > 0 && prefix.isWellFormed()) {
      united.addAll(sorted.marks(from, to), length < TEXT_PREFIX_FROM ? NAME : TEXT);
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

  /** Adds the marks whose list is at most `last`. */
  addAll(marks: Marks, last = TEXT): void {
    const [lists, used] = [this.#lists, this.#used];
    for (let i = 0; i < marks.length; i++) {
      const mark = marks[i] ?? 0;
      if ((mark & 3) > last) continue;
      const position = mark >> 2;
      const list = (mark & 3) + 1;
      const known = lists[position] ?? 0;
      if (known !== 0 && known <= list) continue;
      lists[position] = list;
      used[position >> 5] = (used[position >> 5] ?? 0) | (1 << (position & 31));
    }
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
