/**
 * The words of a block are stored in runs: some 2 kB of consecutive words with their lists, under the first of them. So the
 * index has few rows, and most of the neighbours of a word are read with it. In a run, each word is stored as the number of
 * bytes that it shares with the one before, the number of further bytes, and these bytes.
 */
import { endOfLists, type Marks, roomForMarks, StoredLists, writeMarks } from "./postings.js";

/** A run ends after this many bytes. A word with long lists makes it longer. */
const RUN_BYTES = 2_000;

export interface Run {
  /** Its first word. */
  word: string;
  data: Uint8Array;
}

/** Makes runs of words with their marks or their encoded lists. The words must be in the order of `sortWords`. */
export function* runsOf(words: Iterable<readonly [string, Marks | Uint8Array]>): Generator<Run> {
  let first: string | undefined;
  let bytes = Buffer.alloc(RUN_BYTES);
  let size = 0;
  let [own, before] = [Buffer.alloc(WORD_BYTES), Buffer.alloc(WORD_BYTES)];
  let lengthBefore = 0;
  for (const [word, lists] of words) {
    if (size >= RUN_BYTES && first !== undefined) {
      yield { word: first, data: Buffer.from(bytes.subarray(0, size)) };
      first = undefined;
      [size, lengthBefore] = [0, 0];
    }
    first ??= word;
    const length = writeWord(own, 0, word);
    let shared = 0;
    while (shared < lengthBefore && shared < length && before[shared] === own[shared]) shared++;
    const room = lists instanceof Uint8Array ? lists.length : roomForMarks(lists.length);
    if (size + 2 + length + room > bytes.length) {
      const larger = Buffer.alloc(2 * (size + 2 + length + room));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes[size++] = shared;
    bytes[size++] = length - shared;
    for (let i = shared; i < length; i++) bytes[size++] = own[i] ?? 0;
    if (lists instanceof Uint8Array) {
      bytes.set(lists, size);
      size += lists.length;
    } else size = writeMarks(bytes, size, lists);
    [own, before] = [before, own];
    lengthBefore = length;
  }
  if (first !== undefined) yield { word: first, data: Buffer.from(bytes.subarray(0, size)) };
}

/** Writes a word in UTF-8 from an index on. Returns its length. */
export function writeWord(bytes: Buffer, at: number, word: string): number {
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i);
    if (unit > 0x7f) return bytes.write(word, at);
    bytes[at + i] = unit;
  }
  return word.length;
}

/** The lists of a word in a run; undefined if the run does not hold it. */
export function findInRun(data: Uint8Array, word: string): StoredLists | undefined {
  const wanted = Buffer.from(word);
  for (const reader = new RunReader(data); reader.next(); ) {
    if (reader.length === wanted.length && reader.beginsWith(wanted)) return reader.lists();
  }
  return undefined;
}

/** The lists of all words in a run that begin with a prefix. */
export function beginningWith(data: Uint8Array, prefix: string): StoredLists[] {
  const wanted = Buffer.from(prefix);
  const found: StoredLists[] = [];
  for (const reader = new RunReader(data); reader.next(); )
    if (reader.beginsWith(wanted)) found.push(reader.lists());
  return found;
}

/** The words of a run. */
export function wordsIn(data: Uint8Array): string[] {
  const words: string[] = [];
  for (const reader = new RunReader(data); reader.next(); ) words.push(reader.word());
  return words;
}

/** The words of a run with their lists. */
export function wordsOfRun(data: Uint8Array): [string, StoredLists][] {
  const words: [string, StoredLists][] = [];
  for (const reader = new RunReader(data); reader.next(); ) words.push([reader.word(), reader.lists()]);
  return words;
}

/** Bytes of the longest word: 40 characters of at most 4 bytes. */
const WORD_BYTES = 255;

/** The current word of a reader. Each run is read to its end before the next one, so one buffer serves all. */
const WORD = Buffer.alloc(WORD_BYTES);

/** Reads a run word by word. */
class RunReader {
  readonly #data: Uint8Array;
  readonly #word = WORD;
  length = 0;
  #lists = 0;
  #next = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  /** Moves to the next word; false at the end. */
  next(): boolean {
    const data = this.#data;
    const at = this.#next;
    if (at >= data.length) return false;
    const shared = data[at] ?? 0;
    const further = data[at + 1] ?? 0;
    for (let i = 0; i < further; i++) this.#word[shared + i] = data[at + 2 + i] ?? 0;
    this.length = shared + further;
    this.#lists = at + 2 + further;
    this.#next = endOfLists(data, this.#lists);
    return true;
  }

  beginsWith(prefix: Uint8Array): boolean {
    if (this.length < prefix.length) return false;
    for (let i = prefix.length - 1; i >= 0; i--) if (this.#word[i] !== prefix[i]) return false;
    return true;
  }

  word(): string {
    return this.#word.toString("utf8", 0, this.length);
  }

  lists(): StoredLists {
    return new StoredLists(this.#data, this.#lists);
  }
}

/** Compares words as the database does, by their bytes in UTF-8. */
export function compareWords(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [unit, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (unit !== other) return inUtf8(unit) - inUtf8(other);
  }
  return a.length - b.length;
}

/** A 16-bit unit so that surrogates, of characters beyond U+FFFF, come after all others. */
function inUtf8(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
}

const SURROGATE = /[\ud800-\udfff]/;
const ABOVE_SURROGATES = /[\ue000-\uffff]/;

/** The end of a range: every word or name with the prefix sorts between the prefix and this. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

/** Sorts words by `compareWords`. */
export function sortWords(words: Iterable<string>): string[] {
  const sorted = [...words].sort();
  // JavaScript compares 16-bit units, which puts characters beyond U+FFFF before some of those below.
  const differs =
    sorted.some((word) => SURROGATE.test(word)) && sorted.some((word) => ABOVE_SURROGATES.test(word));
  return differs ? sorted.sort(compareWords) : sorted;
}
