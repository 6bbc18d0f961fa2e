/** A set of slots, one bit each. Sets that are combined have the same capacity. */
export class SlotSet {
  bits: Uint32Array;

  constructor(capacity: number) {
    this.bits = new Uint32Array((capacity + 31) >>> 5);
  }

  /** Makes room for slots below a larger capacity. */
  grow(capacity: number): void {
    const larger = new Uint32Array((capacity + 31) >>> 5);
    larger.set(this.bits);
    this.bits = larger;
  }

  has(slot: number): boolean {
    return (((this.bits[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 1;
  }

  add(slot: number): void {
    this.bits[slot >>> 5] = (this.bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
  }

  put(slot: number, isMember: boolean): void {
    if (isMember) this.add(slot);
    else this.bits[slot >>> 5] = (this.bits[slot >>> 5] ?? 0) & ~(1 << (slot & 31));
  }

  clear(): this {
    this.bits.fill(0);
    return this;
  }

  copy({ bits }: SlotSet): this {
    this.bits.set(bits);
    return this;
  }

  and({ bits }: SlotSet): this {
    const own = this.bits;
    for (let i = 0; i < own.length; i++) own[i] = (own[i] ?? 0) & (bits[i] ?? 0);
    return this;
  }

  andNot({ bits }: SlotSet): this {
    const own = this.bits;
    for (let i = 0; i < own.length; i++) own[i] = (own[i] ?? 0) & ~(bits[i] ?? 0);
    return this;
  }

  or({ bits }: SlotSet): this {
    const own = this.bits;
    for (let i = 0; i < own.length; i++) own[i] = (own[i] ?? 0) | (bits[i] ?? 0);
    return this;
  }

  get size(): number {
    const { bits } = this;
    let size = 0;
    for (let i = 0; i < bits.length; i++) {
      let word = bits[i] ?? 0;
      if (word === 0) continue;
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      size += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return size;
  }

  /** Writes the members into `slots`, ascending, from those of the word at an index on. Returns their number and the next word. */
  members(slots: Uint32Array, from = 0): { count: number; next: number } {
    const { bits } = this;
    const room = slots.length - 32;
    let [count, i] = [0, from];
    for (; i < bits.length && count <= room; i++)
      for (let word = bits[i] ?? 0; word !== 0; word &= word - 1)
        slots[count++] = (i << 5) + 31 - Math.clz32(word & -word);
    return { count, next: i };
  }

  /** Gives the members, ascending, to `use` in blocks: the first `count` of `slots`. */
  forBlocks(use: (slots: Uint32Array, count: number) => void): void {
    for (let next = 0; next < this.bits.length; ) {
      const block = this.members(BLOCK, next);
      next = block.next;
      if (block.count > 0) use(BLOCK, block.count);
    }
  }

  /** Keeps members whose number is from `first` to `last`, both included. */
  keepRange(numbers: Float64Array, first: number, last: number): this {
    const { bits } = this;
    for (let i = 0; i < bits.length; i++) {
      if (bits[i] === 0) continue;
      let kept = 0;
      for (let bit = 0; bit < 32; bit++) {
        const number = numbers[32 * i + bit] ?? 0;
        kept |= Number(number >= first && number <= last) << bit;
      }
      bits[i] = (bits[i] ?? 0) & kept;
    }
    return this;
  }

  /** Keeps members whose code is wanted: `wanted` holds a 1 for each of those. */
  keepCodes(codes: Uint16Array, wanted: Uint8Array): this {
    const { bits } = this;
    for (let i = 0; i < bits.length; i++) {
      if (bits[i] === 0) continue;
      let kept = 0;
      for (let bit = 0; bit < 32; bit++) kept |= (wanted[codes[32 * i + bit] ?? 0] ?? 0) << bit;
      bits[i] = (bits[i] ?? 0) & kept;
    }
    return this;
  }
}

/** Used by one evaluation at a time, as evaluations are synchronous. */
const BLOCK = new Uint32Array(4_096 + 32);
