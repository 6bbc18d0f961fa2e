/**
 * A condition on slots, checked on a block at a time: each is one tight loop over one array. It adds `Number(…)` of a comparison, as a
 * branch that the processor cannot predict costs five times as much.
 */
export interface Condition {
  /** Moves the slots that pass to the front of the block, in their order. Returns their number. */
  keep(block: Uint32Array, count: number): number;
  /** Writes the passing slots from `from` to `to` (excluded) to the block, ascending. Returns their number. */
  scan(from: number, to: number, block: Uint32Array): number;
}

/** The bits of a mask have the given values. */
export class BitsCondition implements Condition {
  readonly #bytes: Uint8Array;
  readonly #mask: number;
  readonly #value: number;

  constructor(bytes: Uint8Array, mask: number, value: number) {
    this.#bytes = bytes;
    this.#mask = mask;
    this.#value = value;
  }

  keep(block: Uint32Array, count: number): number {
    const bytes = this.#bytes;
    const mask = this.#mask;
    const value = this.#value;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const slot = block[i] ?? 0;
      block[kept] = slot;
      kept += Number(((bytes[slot] ?? 0) & mask) === value);
    }
    return kept;
  }

  scan(from: number, to: number, block: Uint32Array): number {
    const bytes = this.#bytes;
    const mask = this.#mask;
    const value = this.#value;
    let kept = 0;
    for (let slot = from; slot < to; slot++) {
      block[kept] = slot;
      kept += Number(((bytes[slot] ?? 0) & mask) === value);
    }
    return kept;
  }
}

/** A code from `first` to `last`, both included; `last` is at least `first`. */
export class RangeCondition implements Condition {
  readonly #codes: Uint16Array | Uint32Array;
  readonly #first: number;
  readonly #span: number;

  constructor(codes: Uint16Array | Uint32Array, first: number, last: number) {
    this.#codes = codes;
    this.#first = first;
    this.#span = last - first;
  }

  keep(block: Uint32Array, count: number): number {
    const codes = this.#codes;
    const first = this.#first;
    const span = this.#span;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const slot = block[i] ?? 0;
      block[kept] = slot;
      kept += Number(((codes[slot] ?? 0) - first) >>> 0 <= span);
    }
    return kept;
  }

  scan(from: number, to: number, block: Uint32Array): number {
    const codes = this.#codes;
    const first = this.#first;
    const span = this.#span;
    let kept = 0;
    for (let slot = from; slot < to; slot++) {
      block[kept] = slot;
      kept += Number(((codes[slot] ?? 0) - first) >>> 0 <= span);
    }
    return kept;
  }
}

/** One of several codes: `wanted` holds a 1 for each of them. */
export class CodesCondition implements Condition {
  readonly #codes: Uint16Array;
  readonly #wanted: Uint8Array;

  constructor(codes: Uint16Array, wanted: Uint8Array) {
    this.#codes = codes;
    this.#wanted = wanted;
  }

  keep(block: Uint32Array, count: number): number {
    const codes = this.#codes;
    const wanted = this.#wanted;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const slot = block[i] ?? 0;
      block[kept] = slot;
      kept += wanted[codes[slot] ?? 0] ?? 0;
    }
    return kept;
  }

  scan(from: number, to: number, block: Uint32Array): number {
    const codes = this.#codes;
    const wanted = this.#wanted;
    let kept = 0;
    for (let slot = from; slot < to; slot++) {
      block[kept] = slot;
      kept += wanted[codes[slot] ?? 0] ?? 0;
    }
    return kept;
  }
}

/** A member of a set of slots, one bit each. */
export class SetCondition implements Condition {
  readonly #bits: Uint32Array;
  #size = 0;

  /** An empty set for slots below `slots`. */
  constructor(slots: number) {
    this.#bits = new Uint32Array((slots + 31) >>> 5);
  }

  /** Number of members. */
  get size(): number {
    return this.#size;
  }

  /** Adds slots from a part of an array; ignores those beyond the set. */
  add(slots: Uint32Array, from = 0, to = slots.length): void {
    const bits = this.#bits;
    let added = 0;
    for (let i = from; i < to; i++) {
      const slot = slots[i] ?? 0;
      const word = bits[slot >>> 5];
      const bit = 1 << (slot & 31);
      if (word === undefined || (word & bit) !== 0) continue;
      bits[slot >>> 5] = word | bit;
      added++;
    }
    this.#size += added;
  }

  /** Number of members among a part of an array. */
  count(slots: Uint32Array, from: number, to: number): number {
    const bits = this.#bits;
    let found = 0;
    for (let i = from; i < to; i++) {
      const slot = slots[i] ?? 0;
      found += ((bits[slot >>> 5] ?? 0) >>> (slot & 31)) & 1;
    }
    return found;
  }

  /** The members, ascending. */
  members(): Uint32Array {
    const bits = this.#bits;
    const members = new Uint32Array(this.#size);
    let count = 0;
    for (let i = 0; i < bits.length; i++) {
      for (let word = bits[i] ?? 0; word !== 0; word &= word - 1)
        members[count++] = (i << 5) + 31 - Math.clz32(word & -word);
    }
    return members;
  }

  keep(block: Uint32Array, count: number): number {
    const bits = this.#bits;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const slot = block[i] ?? 0;
      block[kept] = slot;
      kept += ((bits[slot >>> 5] ?? 0) >>> (slot & 31)) & 1;
    }
    return kept;
  }

  scan(from: number, to: number, block: Uint32Array): number {
    const bits = this.#bits;
    let kept = 0;
    for (let slot = from; slot < to; slot++) {
      block[kept] = slot;
      kept += ((bits[slot >>> 5] ?? 0) >>> (slot & 31)) & 1;
    }
    return kept;
  }
}
