import { keyCount, MAX_SHORT, numberKeys } from "./keys.js";
import type { Order, Piece } from "./order.js";
import { sharedShorts, sharedWords } from "./shared-arrays.js";

/** Sort keys, the highest first, with the slots that have them, within equal keys the highest slot first. */
export interface SortedKeys {
  slots: Uint32Array;
  keys: Float64Array;
}

export interface EncodeOptions {
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
