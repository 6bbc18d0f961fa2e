import type { ValueCount } from "../counts.js";
import type { Groups, Names } from "./parts.js";

/** The values that are counted. */
export interface Values {
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

export interface TopOptions {
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
