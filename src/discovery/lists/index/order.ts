/** An order of the list index, and its sort keys: how both are stored, and where a key or a row is in them. */
import { isGrowthSort, type ListSpec, type RowKey } from "../spec.js";

/**
 * All repositories in one order. Sort keys are numbered from 1, the highest key first: the number is the *code* of a key, and
 * comparing codes is comparing keys. Rows with equal keys go by id, and the slot of a repository is its id.
 */
export interface Order {
  keys: Keys;
  /**
   * Slots from the highest key to the lowest, within equal keys from the highest slot to the lowest. Slots whose key is a run
   * are left out.
   */
  slots: Uint32Array;
  /** The code of each slot; 0 for one without a key. Absent in a sparse order, which few repositories are in. */
  cells: Uint16Array | Uint32Array | undefined;
  /** For a sparse order: the code at each position of `slots`. */
  codes: Uint16Array | Uint32Array;
  /** The order in pieces, highest keys first. */
  pieces: readonly Piece[];
  /** Whether repositories without a key come at the end; otherwise the order does not contain them. */
  keepsUnknown: boolean;
}

/** Some positions of `slots`; or a run: all slots whose cell is `code`, as very many repositories share that key. */
export type Piece = { from: number; to: number; code?: undefined } | { code: number };

/** An order with the code of each slot. */
export type OrderWithCells = Order & { cells: Uint16Array | Uint32Array };

export type Direction = "asc" | "desc";

/** A sort, and the window of one by growth. */
export type IndexedOrder = Pick<ListSpec, "sort" | "window">;

/** The name of an order in the index. */
export function orderName({ sort, window }: IndexedOrder): string {
  return isGrowthSort(sort) ? `${sort} ${window}` : sort;
}

/** Cost of testing a slot far from the one before, relative to the next slot in memory. */
export const UNORDERED_COST = 8;

/** The code at a position of `slots`. */
export function codeAt({ cells, codes, slots }: Order, position: number): number {
  return (cells === undefined ? codes[position] : cells[slots[position] ?? 0]) ?? UNKNOWN;
}

/** The sort key of a slot of the order. Takes time proportional to the length of a sparse order. */
export function keyOfSlot(order: Order, slot: number): number {
  const { cells, codes, slots, keys } = order;
  const code = cells === undefined ? codes[slots.indexOf(slot)] : cells[slot];
  return keyOfCode(keys, code ?? UNKNOWN);
}

/** A point between two rows: after all rows with codes before `code`, and after those with `code` and slots up to `slot`. */
export interface Bound {
  code: number;
  slot: number;
}

/** The point directly after a row, whether or not the row is still there. */
export function boundAfter({ keys, keepsUnknown }: Order, after: RowKey): Bound {
  if (keepsUnknown && after.sortKey === UNKNOWN_KEY) return { code: UNKNOWN, slot: after.id };
  const code = codeAtMost(keys, after.sortKey);
  if (code <= keyCount(keys) && keyOfCode(keys, code) === after.sortKey) return { code, slot: after.id };
  // No row has this key. Going down, all rows with `code` come next; going up, none of them.
  return { code, slot: Number.POSITIVE_INFINITY };
}

/** Codes from `first` to `last`, both included. */
export interface CodeRange {
  first: number;
  last: number;
}

/** The pieces of an order that hold codes of a range. */
export function piecesInRange(order: Order, { first, last }: CodeRange): Piece[] {
  return order.pieces.flatMap((piece): Piece[] => {
    if (piece.code !== undefined) return piece.code >= first && piece.code <= last ? [piece] : [];
    const from = firstIndex(piece.from, piece.to, (position) => codeAt(order, position) >= first);
    const to = firstIndex(from, piece.to, (position) => codeAt(order, position) > last);
    return to > from ? [{ from, to }] : [];
  });
}

/**
 * Distinct sort keys by code, from high to low: in spans, each with its highest key and the distance of every key from that; or all
 * multiples of `unit` from `highest` down.
 */
export type Keys = Spans | { highest: number; unit: number; count: number };

export interface Spans {
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
const UNKNOWN_KEY = -1;

/** Codes that fit in 16 bits. */
export const MAX_SHORT = 0xffff;

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

/** First index from `from` to `to` (excluded) for which `isAfter` is true, where all later ones are too; `to` if none is. */
export function firstIndex(from: number, to: number, isAfter: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
