/** What is counted beside a list; counters of slots by their values in one dimension; and the values that most slots have. */
import { SetCondition } from "./conditions.js";
import { BLOCK } from "./matches.js";
import { codeAtMost, type OrderWithCells } from "./order.js";
import type { Groups, Names, Topics } from "./parts.js";

/** What a list is counted by. */
export interface CountRequest {
  /** Least stars that are offered. */
  minStars: readonly number[];
  /** Times of creation and of the last push that are offered. */
  createdAfter: readonly number[];
  pushedAfter: readonly number[];
  /** Most values of each kind, besides those in the filters. */
  values: number;
}

/** `sampled`: estimated from a part of the catalogue. `at-least`: counted among the best matches of a search that has more. */
export type Precision = "exact" | "sampled" | "at-least";

/** A value of a filter. */
export interface ValueCount {
  name: string;
  /** Repositories in the list with this value and all other filters; null if that is not known. */
  count: number | null;
}

/** Values by their counts, the highest first, and equal ones by name. None has the count 0 unless it is in the filters. */
export interface ValueCounts {
  precision: Precision;
  values: readonly ValueCount[];
}

/** The counts of the bounds of a request, in their order. */
export interface BoundCounts {
  precision: Precision;
  counts: readonly number[];
}

/**
 * How many repositories a list would have with one value instead of those of the same kind, and all other filters. Languages and
 * licenses that differ in case are one value.
 */
export interface FacetCounts {
  languages: ValueCounts;
  topics: ValueCounts;
  providers: ValueCounts;
  licenses: ValueCounts;
  minStars: BoundCounts;
  createdAfter: BoundCounts;
  pushedAfter: BoundCounts;
  /** Whether any repository has a license, a date of creation, a date of its last push. */
  known: { licenses: boolean; created: boolean; pushed: boolean };
}

/** Counts slots by the values that they have in one dimension. */
export interface Counter {
  /** Counts the first `count` slots of a block. */
  add(block: Uint32Array, count: number): void;
  /** The counts so far. */
  counts(): Uint32Array;
}

/**
 * Counts by code: that of a name, 0 for none. Every other slot is counted apart: most neighbours have the same code, and adding to a
 * count waits until the addition before it is in memory, which doubles the time.
 */
export class CodeCounter implements Counter {
  readonly #codes: Uint16Array;
  readonly #even: Uint32Array;
  readonly #odd: Uint32Array;

  constructor(codes: Uint16Array, names: number) {
    this.#codes = codes;
    this.#even = new Uint32Array(names + 1);
    this.#odd = new Uint32Array(names + 1);
  }

  add(block: Uint32Array, count: number): void {
    const codes = this.#codes;
    const even = this.#even;
    const odd = this.#odd;
    for (let i = 1; i < count; i += 2) {
      const one = codes[block[i - 1] ?? 0] ?? 0;
      const other = codes[block[i] ?? 0] ?? 0;
      even[one] = (even[one] ?? 0) + 1;
      odd[other] = (odd[other] ?? 0) + 1;
    }
    if (count % 2 === 0) return;
    const last = codes[block[count - 1] ?? 0] ?? 0;
    even[last] = (even[last] ?? 0) + 1;
  }

  counts(): Uint32Array {
    return this.#even.map((count, code) => count + (this.#odd[code] ?? 0));
  }
}

/** By slot of a block: its code less 1. Without a key the code is 0, and becomes the highest number, which no bound counts. */
const RANKS = new Uint32Array(BLOCK);

/** Counts, for each bound, the slots whose key is at least that. */
export class BoundCounter implements Counter {
  readonly #cells: Uint16Array | Uint32Array;
  /** The last code that counts, by bound. */
  readonly #last: Uint32Array;
  readonly #counts: Uint32Array;

  constructor({ keys, cells }: OrderWithCells, bounds: readonly number[]) {
    this.#cells = cells;
    this.#last = Uint32Array.from(bounds, (bound) => codeAtMost(keys, bound - 1) - 1);
    this.#counts = new Uint32Array(bounds.length);
  }

  add(block: Uint32Array, count: number): void {
    const cells = this.#cells;
    const ranks = RANKS;
    // Reading the code of a slot costs more than comparing it, so it is read once for all bounds.
    for (let i = 0; i < count; i++) ranks[i] = (cells[block[i] ?? 0] ?? 0) - 1;
    for (let bound = 0; bound < this.#last.length; bound++) {
      const last = this.#last[bound] ?? 0;
      let found = 0;
      // A branch would cost three times as much.
      for (let i = 0; i < count; i++) found += Number((ranks[i] ?? 0) < last);
      this.#counts[bound] = (this.#counts[bound] ?? 0) + found;
    }
  }

  counts(): Uint32Array {
    return this.#counts;
  }
}

/** Maximum number of memberships of topics that are read; the topics with most repositories come first. */
const MOST_MEMBERS = 2_000_000;

/** Counts by topic: collects the slots, then the members of each topic among them. Leaves out the rarest of very many topics. */
export class TopicCounter implements Counter {
  readonly #topics: Topics;
  readonly #found: SetCondition;

  constructor(topics: Topics, slots: number) {
    this.#topics = topics;
    this.#found = new SetCondition(slots);
  }

  add(block: Uint32Array, count: number): void {
    this.#found.add(block, 0, count);
  }

  counts(): Uint32Array {
    const { names, offsets, slots } = this.#topics;
    const counts = new Uint32Array(names.length);
    if (this.#found.size === 0) return counts;
    for (let topic = 0; topic < names.length; topic++) {
      const end = offsets[topic + 1] ?? 0;
      if (end > MOST_MEMBERS) break;
      counts[topic] = this.#found.count(slots, offsets[topic] ?? 0, end);
    }
    return counts;
  }
}

/** The values that are counted. */
interface Values {
  /** What each value is called. */
  names: readonly string[];
  /** By value, the indexes of its counts; absent: the count of a value has its index. */
  members?: readonly (readonly number[])[];
}

/** The counts of one dimension. */
export interface Counted {
  counts: Uint32Array;
  /** Slots per counted slot; 1 unless only a part was read. */
  factor: number;
}

const known = new WeakMap<readonly string[], Values>();

/** The values of some names: those that differ in case only are one value, which has the most common of their spellings. */
export function valuesOf({ names: { names }, groups }: { names: Names; groups?: Groups }): Values {
  const found = known.get(names);
  if (found !== undefined) return found;
  const byFold = new Map<string, number[]>();
  for (const [i, name] of names.entries()) {
    const folded = name.toLowerCase();
    const same = byFold.get(folded);
    // The count at 0 is that of repositories without a name.
    if (same === undefined) byFold.set(folded, [i + 1]);
    else same.push(i + 1);
  }
  const sizeOf = (code: number) => (groups?.offsets[code] ?? 0) - (groups?.offsets[code - 1] ?? 0);
  const members = [...byFold.values()];
  const values = {
    names: members.map((codes) => {
      const common = codes.reduce((best, code) => (sizeOf(code) > sizeOf(best) ? code : best));
      return names[common - 1] ?? "";
    }),
    members,
  };
  known.set(names, values);
  return values;
}

/** The number of slots estimated from a count. From a sample it has two significant digits. */
export function estimate(count: number, { factor }: Pick<Counted, "factor">): number {
  return factor === 1 ? count : Number((count * factor).toPrecision(2));
}

interface TopOptions {
  /** Values that are included whatever their count, in lower case. */
  chosen: readonly string[];
  /** The count of a chosen value that is not among the names: 0, or null if the names are not all. */
  absent: 0 | null;
  /** Most of the other values. */
  most: number;
}

/** The values with the highest counts, and the chosen ones. */
export function topOf({ names, members }: Values, counted: Counted, options: TopOptions): ValueCount[] {
  const { chosen, absent, most } = options;
  const counts = members === undefined ? counted.counts : sumsOf(members, counted.counts);
  const wanted = new Set(chosen);
  // More than this, and there are at most `most` of them.
  const bound = counts.toSorted().at(-most - 1) ?? 0;
  const values: ValueCount[] = [];
  const ties: ValueCount[] = [];
  for (const [i, name] of names.entries()) {
    const count = counts[i] ?? 0;
    const isChosen = wanted.delete(name.toLowerCase());
    if (isChosen || count > bound) values.push({ name, count: estimate(count, counted) });
    else if (count > 0 && count === bound && ties.length < most)
      ties.push({ name, count: estimate(count, counted) });
  }
  for (const name of wanted) values.push({ name, count: absent });
  const others = Math.max(0, most + chosen.length - values.length);
  return [...values, ...ties.slice(0, others)].toSorted(byCount);
}

function sumsOf(members: readonly (readonly number[])[], counts: Uint32Array): Uint32Array {
  return Uint32Array.from(members, (codes) => codes.reduce((sum, code) => sum + (counts[code] ?? 0), 0));
}

function byCount(a: ValueCount, b: ValueCount): number {
  return (b.count ?? 0) - (a.count ?? 0) || (a.name < b.name ? -1 : 1);
}
