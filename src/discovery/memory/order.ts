/** The order of a list: picks the first matches from a set of slots, by looking at each, or along slots that are sorted. */
import type { SlotSet } from "./slot-set.js";

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
