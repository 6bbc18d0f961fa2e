import { firstIndex, sharedNumbers, sharedWords } from "./shared-arrays.js";

/**
 * Distinct sort keys by code, from high to low: in spans, each with its highest key and the distance of every key from that; or all
 * multiples of `unit` from `highest` down.
 */
export type Keys = Spans | { highest: number; unit: number; count: number };

interface Spans {
  /** By span, ascending: the index of its first key. */
  starts: Uint32Array;
  /** By span. */
  highest: Float64Array;
  /** By key: how far it is below the highest one of its span. */
  distances: Uint32Array;
}

/** The cell of a slot without a sort key. */
export const UNKNOWN = 0;
/** The sort key of such a slot. */
export const UNKNOWN_KEY = -1;

/** Codes that fit in 16 bits. */
export const MAX_SHORT = 0xffff;
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

export function keyCount(keys: Keys): number {
  return "distances" in keys ? keys.distances.length : keys.count;
}

/** Bytes of the keys in shared memory. */
export function keyBytes(keys: Keys): number {
  if (!("distances" in keys)) return 0;
  return keys.starts.byteLength + keys.highest.byteLength + keys.distances.byteLength;
}

export function keyOfCode(keys: Keys, code: number): number {
  if (code === UNKNOWN) return UNKNOWN_KEY;
  return "distances" in keys ? keyAt(keys, code - 1) : keys.highest - (code - 1) * keys.unit;
}

/** The code of the highest key that is at most `key`; one more than the last code if all keys are higher. */
export function codeAtMost(keys: Keys, key: number): number {
  if (!("distances" in keys))
    return Math.min(keys.count + 1, Math.max(1, Math.ceil((keys.highest - key) / keys.unit) + 1));
  return firstIndex(0, keys.distances.length, (index) => keyAt(keys, index) <= key) + 1;
}

function keyAt({ starts, highest, distances }: Spans, index: number): number {
  const distance = distances[index];
  if (distance === undefined) return UNKNOWN_KEY;
  const span = firstIndex(0, starts.length, (one) => (starts[one] ?? 0) > index) - 1;
  return (highest[span] ?? 0) - distance;
}
