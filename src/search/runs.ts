/**
 * The words of a block are stored in runs: some 2 kB of consecutive words with their lists, under the first of them. So the
 * index has few rows, and most of the neighbours of a word are read with it. In a run, each word is stored as the number of
 * bytes that it shares with the one before, the number of further bytes, and these bytes.
 */
import { endOfLists, StoredLists } from "./postings.js";

/** A run ends after this many bytes. A word with long lists makes it longer. */
const RUN_BYTES = 2_000;

export interface Run {
  /** Its first word. */
  word: string;
  data: Uint8Array;
}

/** Makes runs of words with their encoded lists. The words must be in the order of `sortWords`. */
export function* runsOf(words: Iterable<readonly [string, Uint8Array]>): Generator<Run> {
  let first: string | undefined;
  let before: Uint8Array = new Uint8Array();
  let parts: Uint8Array[] = [];
  let size = 0;
  for (const [word, lists] of words) {
    if (size >= RUN_BYTES && first !== undefined) {
      yield { word: first, data: Buffer.concat(parts) };
      first = undefined;
      before = new Uint8Array();
      parts = [];
      size = 0;
    }
    first ??= word;
    const encoded = Buffer.from(word);
    let shared = 0;
    while (shared < before.length && shared < encoded.length && before[shared] === encoded[shared]) shared++;
    parts.push(Uint8Array.of(shared, encoded.length - shared), encoded.subarray(shared), lists);
    size += 2 + encoded.length - shared + lists.length;
    before = encoded;
  }
  if (first !== undefined) yield { word: first, data: Buffer.concat(parts) };
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
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const SURROGATE = /[\ud800-\udfff]/;
const ABOVE_SURROGATES = /[\ue000-\uffff]/;

/** Sorts words by `compareWords`. */
export function sortWords(words: Iterable<string>): string[] {
  const sorted = [...words].sort();
  // JavaScript compares 16-bit units, which puts characters beyond U+FFFF before some of those below.
  const differs =
    sorted.some((word) => SURROGATE.test(word)) && sorted.some((word) => ABOVE_SURROGATES.test(word));
  return differs ? sorted.sort(compareWords) : sorted;
}
