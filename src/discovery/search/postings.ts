/**
 * Postings: where a word or a prefix occurs in one block of the index. A block is 65,536 positions. Three disjoint lists of
 * positions say how a word occurs: as the whole name, in the name or the owner, or only in the other texts.
 */

export const BLOCK = 65_536;

/** How a word occurs in a document, as the index of its list. */
export const WHOLE = 0;
export const NAME = 1;
export const TEXT = 2;

/** Where and how a word occurs: each position times four, plus the index of its list; ascending. */
export type Marks = readonly number[] | Uint32Array;

export function markOf(position: number, list: number): number {
  return position * 4 + list;
}

/** From this length on, a list is stored as a bitmap, which is then smaller than an array of 16-bit numbers. */
const BITMAP_FROM = BLOCK / 16;
const BITMAP_BYTES = BLOCK / 8;

/** More bytes than `writeMarks` needs for this number of marks. */
export function roomForMarks(count: number): number {
  return 7 + 2 * count;
}

/**
 * Writes the lists of marks to bytes from `at` on: one byte that says which are not empty, and for each of those its length and
 * its positions. Returns the index after them.
 */
export function writeMarks(bytes: Uint8Array, at: number, marks: Marks): number {
  if (marks.length === 1) {
    // Most words occur once in a block.
    const mark = marks[0] ?? 0;
    bytes[at] = 1 << (mark & 3);
    setNumber(bytes, at + 1, 1);
    setNumber(bytes, at + 3, mark >> 2);
    return at + 5;
  }
  const lengths = [0, 0, 0];
  for (const mark of marks) lengths[mark & 3] = (lengths[mark & 3] ?? 0) + 1;
  let present = 0;
  let end = at + 1;
  for (const [list, length] of lengths.entries()) {
    if (length === 0) continue;
    present |= 1 << list;
    setNumber(bytes, end, length);
    const begin = end + 2;
    end = begin + bytesOfList(length);
    if (length >= BITMAP_FROM) bytes.fill(0, begin, end);
    let next = begin;
    for (const mark of marks) {
      if ((mark & 3) !== list) continue;
      const position = mark >> 2;
      if (length < BITMAP_FROM) {
        setNumber(bytes, next, position);
        next += 2;
      } else {
        const byte = begin + (position >> 3);
        bytes[byte] = (bytes[byte] ?? 0) | (1 << (position & 7));
      }
    }
  }
  bytes[at] = present;
  return end;
}

function bytesOfList(length: number): number {
  return length < BITMAP_FROM ? length * 2 : BITMAP_BYTES;
}

function setNumber(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = value >> 8;
}

/** Index of the byte after lists that begin at `from`. */
export function endOfLists(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (let present = bytes[from] ?? 0; present !== 0; present &= present - 1)
    at += 2 + bytesOfList(numberAt(bytes, at));
  return at;
}

/** Lists as they are stored. A search reads thousands of them, so this is no more than where they begin. */
export class StoredLists {
  readonly #bytes: Uint8Array;
  readonly #from: number;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    this.#from = from;
  }

  /** As they are stored. */
  encoded(): Uint8Array {
    return this.#bytes.subarray(this.#from, endOfLists(this.#bytes, this.#from));
  }

  /** The marks, ascending in each list. */
  decode(): number[] {
    const bytes = this.#bytes;
    const marks: number[] = [];
    let end = this.#from + 1;
    for (let list = WHOLE; list <= TEXT; list++) {
      if (((bytes[this.#from] ?? 0) & (1 << list)) === 0) continue;
      const length = numberAt(bytes, end);
      const at = end + 2;
      end = at + bytesOfList(length);
      if (length < BITMAP_FROM)
        for (let i = at; i < end; i += 2) marks.push(markOf(numberAt(bytes, i), list));
      else {
        const positions = new Positions();
        positions.addStored(bytes, at, length);
        const found: number[] = [];
        positions.appendTo(found, 0);
        for (const position of found) marks.push(markOf(position, list));
      }
    }
    return marks;
  }

  /** Adds the lists up to `last` to a set: WHOLE adds only that one, TEXT all of them. */
  addTo(positions: Positions, last: number): void {
    const bytes = this.#bytes;
    const present = bytes[this.#from] ?? 0;
    let at = this.#from + 1;
    for (let list = 0; list <= last; list++) {
      if ((present & (1 << list)) === 0) continue;
      const length = numberAt(bytes, at);
      positions.addStored(bytes, at + 2, length);
      at += 2 + bytesOfList(length);
    }
  }
}

function numberAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

const BITMAP = new Uint8Array(BITMAP_BYTES);
const BITMAP_WORDS = new Uint32Array(BITMAP.buffer);

/** A set of positions within a block. */
export class Positions {
  readonly #words = new Uint32Array(BLOCK / 32);
  #isEmpty = true;

  get isEmpty(): boolean {
    if (this.#isEmpty) return true;
    const words = this.#words;
    for (let i = 0; i < words.length; i++) if (words[i] !== 0) return false;
    this.#isEmpty = true;
    return true;
  }

  clear(): void {
    this.#words.fill(0);
    this.#isEmpty = true;
  }

  add(position: number): void {
    this.#isEmpty = false;
    this.#words[position >> 5] = (this.#words[position >> 5] ?? 0) | (1 << (position & 31));
  }

  /** Adds a stored list of this length, whose positions begin at an index. */
  addStored(bytes: Uint8Array, at: number, length: number): void {
    const words = this.#words;
    this.#isEmpty = false;
    if (length >= BITMAP_FROM) {
      // A copy, since the bytes may begin anywhere.
      BITMAP.set(bytes.subarray(at, at + BITMAP_BYTES));
      for (let i = 0; i < words.length; i++) words[i] = (words[i] ?? 0) | (BITMAP_WORDS[i] ?? 0);
      return;
    }
    for (let i = at; i < at + length * 2; i += 2) {
      const position = numberAt(bytes, i);
      words[position >> 5] = (words[position >> 5] ?? 0) | (1 << (position & 31));
    }
  }

  intersect(other: Positions): this {
    const [mine, others] = [this.#words, other.#words];
    for (let i = 0; i < mine.length; i++) mine[i] = (mine[i] ?? 0) & (others[i] ?? 0);
    return this;
  }

  unite(other: Positions): this {
    const [mine, others] = [this.#words, other.#words];
    for (let i = 0; i < mine.length; i++) mine[i] = (mine[i] ?? 0) | (others[i] ?? 0);
    this.#isEmpty &&= other.#isEmpty;
    return this;
  }

  subtract(other: Positions): void {
    if (other.#isEmpty) return;
    const [mine, others] = [this.#words, other.#words];
    for (let i = 0; i < mine.length; i++) mine[i] = (mine[i] ?? 0) & ~(others[i] ?? 0);
  }

  get count(): number {
    if (this.#isEmpty) return 0;
    const words = this.#words;
    let count = 0;
    for (let i = 0; i < words.length; i++) count += bitsIn(words[i] ?? 0);
    return count;
  }

  /** Appends at most `limit` positions to `target`, ascending, each increased by `base`. */
  appendTo(target: number[], base: number, limit = BLOCK): void {
    let left = limit;
    for (let i = 0; i < this.#words.length && left > 0; i++) {
      for (let word = this.#words[i] ?? 0; word !== 0 && left > 0; word &= word - 1, left--)
        target.push(base + i * 32 + (31 - Math.clz32(word & -word)));
    }
  }
}

/** Sets of positions that are used again: each is 8 kB beyond the heap, which makes the garbage collector run soon. */
export class PositionPool {
  readonly #sets: Positions[] = [];
  #used = 0;

  /** An empty set, until the next `reset`. */
  take(): Positions {
    const known = this.#sets[this.#used++];
    known?.clear();
    if (known !== undefined) return known;
    const made = new Positions();
    this.#sets.push(made);
    return made;
  }

  reset(): void {
    this.#used = 0;
  }
}

/** Number of bits that are set in 32 of them. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
