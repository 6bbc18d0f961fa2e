/** Sets of slots, their orders, and packed lists of them. */
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

type Numbers = Uint32Array | Int32Array | Float64Array;
export type Direction = "asc" | "desc";

/** Slots by a number, ties by id. */
export interface Order {
  numbers: Numbers;
  id: Float64Array;
  /** The least number in the order. */
  least: number;
  /** The number that means unknown: it comes last in both directions. */
  unknown?: number;
}

interface SortedOrder extends Order {
  sorted: Uint32Array;
}

/** A place in an order: a page continues after it. */
export interface Place {
  number: number;
  id: number;
}

/** Compares slots: the earlier one in the list is less. */
export function compareSlots(
  { numbers, id, unknown }: Order,
  direction: Direction,
): (a: number, b: number) => number {
  const sign = direction === "desc" ? -1 : 1;
  return (a, b) => {
    const [x, y] = [numbers[a] ?? 0, numbers[b] ?? 0];
    if (x !== y) return x === unknown ? 1 : y === unknown ? -1 : sign * (x - y);
    return sign * ((id[a] ?? 0) - (id[b] ?? 0));
  };
}

/** The first `count` members of a set after a place, by looking at each member. */
export function firstOf(
  set: SlotSet,
  order: Order,
  { direction, count, after }: { direction: Direction; count: number; after?: Place | undefined },
): number[] {
  const { numbers, id, unknown } = order;
  const compare = compareSlots(order, direction);
  const isAfter = after === undefined ? undefined : afterPlace(after, direction, unknown);
  const isDescending = direction === "desc";
  let found: number[] = [];
  // A member beyond this is not among the first.
  let worst = isDescending ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  let isBounded = false;
  const room = 2 * count + 64;
  set.forBlocks((slots, length) => {
    for (let i = 0; i < length; i++) {
      const slot = slots[i] ?? 0;
      const number = numbers[slot] ?? 0;
      if (isDescending ? number < worst : number > worst || (isBounded && number === unknown)) continue;
      if (isAfter !== undefined && !isAfter(number, id[slot] ?? 0)) continue;
      found.push(slot);
      if (found.length < room) continue;
      found.sort(compare);
      found.length = count;
      const last = numbers[found[count - 1] ?? 0] ?? 0;
      if (!isDescending && last === unknown) continue;
      worst = last;
      isBounded = true;
    }
  });
  found.sort(compare);
  if (found.length > count) found = found.slice(0, count);
  return found;
}

function afterPlace(
  { number, id }: Place,
  direction: Direction,
  unknown: number | undefined,
): (own: number, ownId: number) => boolean {
  if (direction === "desc") return (own, ownId) => own < number || (own === number && ownId < id);
  if (number === unknown) return (own, ownId) => own === unknown && ownId > id;
  return (own, ownId) => own === unknown || own > number || (own === number && ownId > id);
}

/** Slots that are sorted in one step. */
const RUN = 4_096;

/** Sorts the slots of an order: by number, the greatest first, then by id, the greatest first. In short steps. */
export function* sortSlots(order: Order, size: number): Generator<void, Uint32Array> {
  const compare = compareSlots(order, "desc");
  let slots = new Uint32Array(size);
  let count = 0;
  for (let slot = size - 1; slot >= 0; slot--)
    if ((order.numbers[slot] ?? 0) >= order.least) slots[count++] = slot;
  slots = slots.subarray(0, count);
  for (let from = 0; from < count; from += RUN) {
    slots.subarray(from, from + RUN).sort(compare);
    yield;
  }
  let merged = new Uint32Array(count);
  for (let run = RUN; run < count; run *= 2) {
    for (let from = 0; from < count; from += 2 * run) {
      const [middle, end] = [Math.min(from + run, count), Math.min(from + 2 * run, count)];
      for (let at = from, a = from, b = middle; at < end; at++) {
        const [first, second] = [slots[a] ?? 0, slots[b] ?? 0];
        const isFirst = b === end || (a < middle && compare(first, second) < 0);
        merged[at] = isFirst ? first : second;
        if (isFirst) a++;
        else b++;
        if (at % RUN === 0) yield;
      }
    }
    [slots, merged] = [merged, slots];
  }
  return slots;
}

/** The first `count` members after a place, along sorted slots; undefined if `most` slots were not enough. */
export function walkSorted(
  set: SlotSet,
  order: SortedOrder,
  {
    direction,
    count,
    after,
    most,
  }: { direction: Direction; count: number; after?: Place | undefined; most: number },
): number[] | undefined {
  const { sorted, unknown } = order;
  const found: number[] = [];
  let left = most;
  const walk = (from: number, to: number): void => {
    const step = from <= to ? 1 : -1;
    for (let i = from; i !== to && found.length < count && left > 0; i += step, left--) {
      const slot = sorted[i] ?? 0;
      if (set.has(slot)) found.push(slot);
    }
  };
  if (direction === "desc") {
    walk(after === undefined ? 0 : firstBeyond(order, after), sorted.length);
  } else {
    // Backwards; the unknown ones, which are at the end, come last.
    const known = unknown === undefined ? sorted.length : firstBeyond(order, { number: unknown + 1, id: -1 });
    if (after === undefined || after.number !== unknown) {
      const end = after === undefined ? known : firstNotBefore(order, after);
      walk(end - 1, -1);
      if (known < sorted.length) walk(sorted.length - 1, known - 1);
    } else walk(firstNotBefore(order, after) - 1, known - 1);
  }
  return found.length < count && left === 0 ? undefined : found;
}

/** The index of the first slot after a place, from the greatest on. */
function firstBeyond(order: SortedOrder, { number, id }: Place): number {
  return lower(order, (own, ownId) => own > number || (own === number && ownId >= id));
}

/** The index of the first slot at or after a place. */
function firstNotBefore(order: SortedOrder, { number, id }: Place): number {
  return lower(order, (own, ownId) => own > number || (own === number && ownId > id));
}

function lower(
  { sorted, numbers, id }: SortedOrder,
  isBefore: (number: number, id: number) => boolean,
): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const slot = sorted[middle] ?? 0;
    if (isBefore(numbers[slot] ?? 0, id[slot] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lists in a step. */
const STEP = 20_000;

/** Lists of numbers, one after the other: list `i` is `numbers[starts[i]]` up to before `numbers[starts[i + 1]]`. */
export class PackedLists {
  starts: Uint32Array;
  numbers: Uint32Array;
  /** Lists that have ended. */
  size = 0;
  #end = 0;

  constructor(starts = new Uint32Array(1_024), numbers = new Uint32Array(1_024)) {
    this.starts = starts;
    this.numbers = numbers;
  }

  /** Adds a number to the last list. */
  push(number: number): void {
    if (this.#end === this.numbers.length) this.numbers = doubled(this.numbers);
    this.numbers[this.#end++] = number;
  }

  /** Ends the last list. */
  endList(): void {
    if (++this.size === this.starts.length) this.starts = doubled(this.starts);
    this.starts[this.size] = this.#end;
  }

  /** Gives back the room of further lists. */
  trim(): void {
    this.starts = this.starts.slice(0, this.size + 1);
    this.numbers = this.numbers.slice(0, this.#end);
  }

  /** For each index of a number, the lists that hold the number, ascending. In short steps. */
  *inverted(indexes: Uint32Array): Generator<void, PackedLists> {
    const starts = new Uint32Array(indexes.length + 1);
    for (let i = 0; i < this.#end; i++) {
      const next = (indexes[this.numbers[i] ?? 0] ?? 0) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
      if (i % STEP === 0) yield;
    }
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
    yield;
    const ends = starts.slice();
    const lists = new Uint32Array(this.#end);
    for (let list = 0; list < this.size; list++) {
      for (let i = this.starts[list] ?? 0, to = this.starts[list + 1] ?? 0; i < to; i++) {
        const index = indexes[this.numbers[i] ?? 0] ?? 0;
        const end = ends[index] ?? 0;
        lists[end] = list;
        ends[index] = end + 1;
      }
      if (list % STEP === 0) yield;
    }
    return new PackedLists(starts, lists);
  }
}

function doubled(numbers: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
