import { randomInt } from "node:crypto";
import {
  ASCII_TEXT,
  MAX_INDEXED_WORDS,
  MAX_TEXT_WORDS,
  MAX_WORD_LENGTH,
  wordsOf,
  writeWord,
} from "./words.js";

/** Words in the order of their bytes in UTF-8: those of word `i` are from `starts[i]` to before `starts[i + 1]`. */
export interface Dictionary {
  bytes: Buffer;
  starts: Uint32Array;
}

/** Kinds of ASCII characters: no part of a word (0), letters and digits, and signs that may end a word. */
const LETTER = 1;
const SIGN = 2;
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const KINDS = Uint8Array.from(ASCII, (sign) =>
  /[a-z0-9]/i.test(sign) ? LETTER : /[+#]/.test(sign) ? SIGN : 0,
);
const LOWER = Uint8Array.from(ASCII, (sign) => sign.toLowerCase().charCodeAt(0));
/** A unit of UTF-16 takes at most 3 bytes in UTF-8. */
const MAX_WORD_BYTES = 3 * MAX_WORD_LENGTH;
/** FNV-1a, from a random beginning, so that nobody can choose words that collide in the table. */
const HASH = randomInt(2 ** 32);
const PRIME = 0x01000193;
/** Words in a step. */
const STEP = 20_000;
/** Part of a sort key that holds the number of a word; the first three bytes of the word are above it. */
const NUMBERS = 2 ** 29;

/** From this many words on, further ones of texts are left out. Those of names are not, so that no texts can keep names from being found. */
const MAX_WORDS = 2_000_000;
/** In place of the number of a word that is left out, or that its repository has already. */
export const NO_NUMBER = 2 ** 32 - 1;

/**
 * Numbers distinct words in the order of their first appearance, and reads the words of repositories as numbers, each once. A first
 * index reads many words of every repository, so they are compared as bytes, and no string is made of any.
 */
export class Lexicon {
  /** The words in UTF-8, and where each begins; the one after the last begins at the end. */
  #bytes = Buffer.alloc(8 * MAX_WORD_BYTES);
  #starts = new Uint32Array(64);
  #hashes = new Uint32Array(64);
  /** By hash: the number of a word plus 1; 0 for none. */
  #table = new Uint32Array(128);
  #size = 0;
  /** By word: the number of the repository that it was last found in. */
  #last = new Uint32Array(64);
  #repository = 0;
  /** How many more words of the repository are indexed. */
  #room = 0;
  /** How many words were left out so far. */
  leftOut = 0;
  readonly #maxWords: number;
  readonly #found = new Uint32Array(MAX_TEXT_WORDS);

  constructor(maxWords = MAX_WORDS) {
    this.#maxWords = maxWords;
  }

  /** Begins the next repository. */
  begin(): void {
    this.#repository++;
    this.#room = MAX_INDEXED_WORDS;
  }

  /** The words of a text, as `wordsOf` finds them, or NO_NUMBER. Valid until the next call. */
  read(text: string): Uint32Array {
    if (!ASCII_TEXT.test(text)) return this.#readFolded(text);
    const found = this.#found;
    let count = 0;
    let bytes = this.#bytes;
    let begin = this.#starts[this.#size] ?? 0;
    let length = 0;
    let hash = HASH;
    let before = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const kind = KINDS[code] ?? 0;
      if (length > 0 && (kind === 0 || (kind === LETTER && before === SIGN))) {
        if (count < MAX_TEXT_WORDS) found[count++] = this.#add(length, hash);
        bytes = this.#bytes;
        begin = this.#starts[this.#size] ?? 0;
        length = 0;
        hash = HASH;
      }
      before = kind;
      if (length < MAX_WORD_LENGTH && (kind === LETTER || (kind === SIGN && length > 0))) {
        const byte = LOWER[code] ?? 0;
        bytes[begin + length++] = byte;
        hash = Math.imul(hash ^ byte, PRIME);
      }
    }
    if (length > 0 && count < MAX_TEXT_WORDS) found[count++] = this.#add(length, hash);
    return found.subarray(0, count);
  }

  #readFolded(text: string): Uint32Array {
    const words = wordsOf(text);
    for (const [i, word] of words.entries()) this.#found[i] = this.add(word);
    return this.#found.subarray(0, words.length);
  }

  /** The number of a word of the repository, which is not empty, or NO_NUMBER. */
  add(word: string, isName = false): number {
    const begin = this.#starts[this.#size] ?? 0;
    const length = writeWord(this.#bytes, begin, word);
    let hash = HASH;
    for (let i = begin; i < begin + length; i++) hash = Math.imul(hash ^ (this.#bytes[i] ?? 0), PRIME);
    return this.#add(length, hash, isName);
  }

  /** The same for the word whose bytes are after the last one. */
  #add(length: number, hash: number, isName = false): number {
    const mask = this.#table.length - 1;
    const wanted = hash >>> 0;
    let at = (hash ^ (hash >>> 15)) & mask;
    for (let known = this.#table[at] ?? 0; known !== 0; known = this.#table[at] ?? 0) {
      if (this.#hashes[known - 1] === wanted && this.#isLast(known - 1, length)) return this.#take(known - 1);
      at = (at + 1) & mask;
    }
    if (this.#room === 0 || (this.#size >= this.#maxWords && !isName)) {
      this.leftOut++;
      return NO_NUMBER;
    }
    const number = this.#size++;
    this.#table[at] = number + 1;
    this.#hashes[number] = wanted;
    this.#starts[number + 1] = (this.#starts[number] ?? 0) + length;
    this.#makeRoom();
    return this.#take(number);
  }

  /** A word for the repository, unless it has it already, or too many. */
  #take(number: number): number {
    if (this.#last[number] === this.#repository) return NO_NUMBER;
    this.#last[number] = this.#repository;
    if (this.#room === 0) {
      this.leftOut++;
      return NO_NUMBER;
    }
    this.#room--;
    return number;
  }

  /** Whether a word is the same as the one after the last. */
  #isLast(number: number, length: number): boolean {
    const bytes = this.#bytes;
    const from = this.#starts[number] ?? 0;
    if ((this.#starts[number + 1] ?? 0) - from !== length) return false;
    const last = this.#starts[this.#size] ?? 0;
    for (let i = 0; i < length; i++) if (bytes[from + i] !== bytes[last + i]) return false;
    return true;
  }

  /** Makes room for another word. */
  #makeRoom(): void {
    const size = this.#size;
    if ((this.#starts[size] ?? 0) + MAX_WORD_BYTES > this.#bytes.length) {
      const larger = Buffer.alloc(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    if (size + 2 > this.#starts.length) {
      this.#starts = enlarged(this.#starts, size + 2);
      this.#hashes = enlarged(this.#hashes, size + 2);
      this.#last = enlarged(this.#last, size + 2);
    }
    if (2 * size < this.#table.length) return;
    const mask = 2 * this.#table.length - 1;
    this.#table = new Uint32Array(mask + 1);
    for (let number = 0; number < size; number++) {
      const hash = this.#hashes[number] ?? 0;
      let at = (hash ^ (hash >>> 15)) & mask;
      while (this.#table[at] !== 0) at = (at + 1) & mask;
      this.#table[at] = number + 1;
    }
  }

  /** The words in an order, in short steps. */
  *dictionary(order: Uint32Array): Generator<void, Dictionary> {
    const bytes = Buffer.alloc(this.#starts[this.#size] ?? 0);
    const starts = new Uint32Array(order.length + 1);
    let end = 0;
    for (let i = 0; i < order.length; i++) {
      const word = order[i] ?? 0;
      end += this.#bytes.copy(bytes, end, this.#starts[word], this.#starts[word + 1]);
      starts[i + 1] = end;
      if (i % STEP === 0) yield;
    }
    return { bytes, starts };
  }

  /** The numbers in the order of the bytes of their words, in short steps. */
  *sorted(): Generator<void, Uint32Array> {
    const keys = new Float64Array(this.#size);
    for (let number = 0; number < keys.length; number++)
      keys[number] = this.#prefixOf(number) * NUMBERS + number;
    keys.sort();
    yield;
    const sorted = Uint32Array.from(keys, (key) => key % NUMBERS);
    // Those with the same three bytes at the beginning.
    for (let from = 0; from < sorted.length; ) {
      const prefix = Math.floor((keys[from] ?? 0) / NUMBERS);
      let to = from + 1;
      while (to < sorted.length && Math.floor((keys[to] ?? 0) / NUMBERS) === prefix) to++;
      if (to - from > 1) sorted.subarray(from, to).sort((a, b) => this.#compare(a, b));
      from = to;
      yield;
    }
    return sorted;
  }

  #prefixOf(number: number): number {
    const from = this.#starts[number] ?? 0;
    const length = (this.#starts[number + 1] ?? 0) - from;
    const byteAt = (index: number) => (index < length ? (this.#bytes[from + index] ?? 0) : 0);
    return (byteAt(0) << 16) | (byteAt(1) << 8) | byteAt(2);
  }

  #compare(a: number, b: number): number {
    const bytes = this.#bytes;
    const [first, second] = [this.#starts[a] ?? 0, this.#starts[b] ?? 0];
    const [length, other] = [(this.#starts[a + 1] ?? 0) - first, (this.#starts[b + 1] ?? 0) - second];
    for (let i = 0; i < length && i < other; i++) {
      const difference = (bytes[first + i] ?? 0) - (bytes[second + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return length - other;
  }
}

/** A copy with more room: for `least` numbers, and at least twice as many as before. */
export function enlarged(numbers: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(least, 2 * numbers.length));
  larger.set(numbers);
  return larger;
}
