/** Encodes the orders of the index in shared memory, so that all serving threads read the same copy. */
import { type Keys, keyCount, MAX_SHORT, type Order, type Piece, type Spans } from "./order.js";

/** Sort keys, the highest first, with the slots that have them, within equal keys the highest slot first. */
export interface SortedKeys {
  slots: Uint32Array;
  keys: Float64Array;
}

interface EncodeOptions {
  /** Number of slots of the index. */
  slots: number;
  keepsUnknown: boolean;
  /** Whether the cells are needed for a filter, however few slots have a key. */
  isFilter: boolean;
}

/** An order of at least this share of all slots (one in …) keeps a cell for each slot. */
const SPARSE_PART = 8;
/** A key of at least this share of all slots (one in …) becomes a run, which is cheaper than a list of its slots. */
const RUN_PART = 16;
/** A shorter run is not worth it. */
const MIN_RUN = 8;

/** Builds an order from sorted keys. */
export function encodeOrder(sorted: SortedKeys, { slots, keepsUnknown, isFilter }: EncodeOptions): Order {
  const keys = numberKeys(sorted.keys);
  const count = sorted.slots.length;
  const last = keyCount(keys);
  const codesOf = (length: number) => (last <= MAX_SHORT ? sharedShorts(length) : sharedWords(length));
  const isSparse = !isFilter && count * SPARSE_PART <= slots;
  const codes = codesOf(isSparse ? count : 0);
  const cells = isSparse ? undefined : codesOf(slots);
  const minRun = isSparse ? Number.POSITIVE_INFINITY : Math.max(MIN_RUN, slots / RUN_PART);
  const pieces: Piece[] = [];
  const kept = sharedWords(isSparse ? count : keptCount(sorted.keys, minRun));
  let end = 0;
  let code = 0;
  for (let from = 0; from < count; ) {
    const key = sorted.keys[from] ?? 0;
    let to = from + 1;
    while (to < count && sorted.keys[to] === key) to++;
    code = "distances" in keys ? code + 1 : (keys.highest - key) / keys.unit + 1;
    for (let i = from; i < to; i++) {
      if (cells === undefined) codes[i] = code;
      else cells[sorted.slots[i] ?? 0] = code;
    }
    if (to - from >= minRun) pieces.push({ code });
    else {
      kept.set(sorted.slots.subarray(from, to), end);
      const before = pieces.at(-1);
      if (before !== undefined && before.code === undefined) before.to = end + to - from;
      else pieces.push({ from: end, to: end + to - from });
      end += to - from;
    }
    from = to;
  }
  return { keys, slots: kept, cells, codes, pieces, keepsUnknown };
}

/** Number of slots outside of runs. */
function keptCount(keys: Float64Array, minRun: number): number {
  let kept = keys.length;
  for (let from = 0; from < keys.length; ) {
    let to = from + 1;
    while (to < keys.length && keys[to] === keys[from]) to++;
    if (to - from >= minRun) kept -= to - from;
    from = to;
  }
  return kept;
}

/** Distances that fit in 32 bits. */
const MAX_DISTANCE = 0xffff_ffff;

/** Numbers distinct keys: in spans if 16 bits suffice, else by their distance from the highest if 32 bits do. */
export function numberKeys(keys: Float64Array): Keys {
  const highest = keys[0] ?? 0;
  let distinct = 0;
  let areSeconds = true;
  for (let i = 0; i < keys.length; i++) {
    if (i === 0 || keys[i] !== keys[i - 1]) distinct++;
    areSeconds &&= (highest - (keys[i] ?? 0)) % 1_000 === 0;
  }
  const unit = areSeconds ? 1_000 : 1;
  const count = (highest - (keys.at(-1) ?? 0)) / unit + 1;
  return distinct > MAX_SHORT && count < 2 ** 32 ? { highest, unit, count } : spansOf(keys, distinct);
}

function spansOf(keys: Float64Array, distinct: number): Spans {
  const starts: number[] = [];
  const highest: number[] = [];
  const distances = sharedWords(distinct);
  let top = Number.POSITIVE_INFINITY;
  for (let i = 0, end = 0; i < keys.length; i++) {
    const key = keys[i] ?? 0;
    if (i > 0 && key === keys[i - 1]) continue;
    if (top - key > MAX_DISTANCE) {
      starts.push(end);
      highest.push(key);
      top = key;
    }
    distances[end++] = top - key;
  }
  const spans = { starts: sharedWords(starts.length), highest: sharedNumbers(highest.length), distances };
  spans.starts.set(starts);
  spans.highest.set(highest);
  return spans;
}

export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

export function sharedShorts(length: number): Uint16Array {
  return new Uint16Array(new SharedArrayBuffer(length * 2));
}

export function sharedWords(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}

function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * 8));
}
