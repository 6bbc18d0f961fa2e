/** Counts next to a list: how many repositories it would have with other values of its filters. */
import { type Dimension, isFiltered } from "../lists/filters.js";
import { isGrowthSort } from "../lists/sorts.js";
import type { ListSpec } from "../lists/spec.js";
import { type NamedColumn, type Names, plainNumber } from "./columns.js";
import { matchesOf } from "./matches.js";
import type { Evaluation, ReadModel } from "./read-model.js";
import type { SlotSet } from "./slot-set.js";

/** Filters by the least number or time, for which some bounds are offered. */
export type BoundFilter = "minStars" | "createdAfter" | "pushedAfter";

/** The values that a list is counted by: offered bounds, and names. */
export interface CountRequest extends Readonly<Record<BoundFilter, readonly number[]>> {
  /** Most values of each kind, besides those in the filters. */
  values: number;
}

/** `sampled`: estimated from a part of the matches. */
export type Precision = "exact" | "sampled";

interface ValueCount {
  name: string;
  /** Repositories in the list with this value and all other filters; null if they were not counted. */
  count: number | null;
}

type Counted = ValueCount & { count: number };

/** Values by their counts, the highest first, and equal ones by name. None has the count 0 unless it is in the filters. */
export interface ValueCounts {
  precision: Precision;
  values: readonly ValueCount[];
}

/**
 * How many repositories a list would have with one value instead of those of the same kind, and all other filters. Languages and
 * licenses that differ in case are one value.
 */
export interface FacetCounts
  extends Readonly<Record<NamedColumn | "topic", ValueCounts>>,
    /** The counts of the bounds of a request, in their order. */
    Readonly<Record<BoundFilter, readonly number[]>> {
  known: KnownFacts;
}

/** Whether any repository has a license, a date of creation, a date of its last push. */
export type KnownFacts = Readonly<Record<"license" | "createdAfter" | "pushedAfter", boolean>>;

/** Stops at the first repository that has each. */
export function knownFacts({ columns: { named, plain, size } }: ReadModel): KnownFacts {
  const known = (numbers: ArrayLike<number>) => {
    for (let slot = 0; slot < size; slot++) if ((numbers[slot] ?? 0) > 0) return true;
    return false;
  };
  return {
    license: known(named.license),
    createdAfter: known(plain.created),
    pushedAfter: known(plain.pushed),
  };
}

/** Topics of more matches than this are counted in a sample, as each repository has several. */
const MOST_TAGGED = 300_000;

export interface CountedList extends Pick<ListSpec, "filters" | "sort" | "window"> {
  request: CountRequest;
  /** The matches of its search. */
  among: SlotSet | undefined;
}

/** Counts a list by the values of each dimension. */
export function countFacets(
  evaluation: Evaluation,
  { filters, sort, window, request, among }: CountedList,
): FacetCounts {
  const { model } = evaluation;
  const { columns } = model;
  const all = matchesIn(undefined);
  function matchesIn(except: Dimension | undefined): SlotSet {
    const set = matchesOf(evaluation, { filters, window, among, except });
    return isGrowthSort(sort) ? set.and(model.members({ growth: sort, window })) : set;
  }
  const setOf = (dimension: Dimension) => (isFiltered(filters, dimension) ? matchesIn(dimension) : all);
  const named = (column: NamedColumn): ValueCounts => {
    const [names, codes] = [columns.names[column], columns.named[column]];
    const chosen = [filters[column] ?? []].flat().map((name) => name.toLowerCase());
    const counts = countCodes(setOf(column), codes, names);
    return {
      precision: "exact",
      values: topOf(names, counts, { chosen, most: request.values, isFolded: true }),
    };
  };
  const bounds = (column: "stars" | "created" | "pushed", from: readonly number[]) =>
    countAbove(setOf(column), columns.plain[column], from);
  return {
    language: named("language"),
    provider: named("provider"),
    license: named("license"),
    topic: countTopics(model, setOf("topic"), { chosen: filters.topic ?? [], most: request.values }),
    minStars: bounds("stars", request.minStars.map(plainNumber)),
    createdAfter: bounds("created", request.createdAfter.map(plainNumber)),
    pushedAfter: bounds("pushed", request.pushedAfter.map(plainNumber)),
    known: knownFacts(model),
  };
}

/** By code, how many members have it. */
export function countCodes(set: SlotSet, codes: Uint16Array, { names }: Names): Uint32Array {
  const counts = new Uint32Array(names.length);
  set.forBlocks((slots, length) => {
    for (let i = 0; i < length; i++) {
      const code = codes[slots[i] ?? 0] ?? 0;
      counts[code] = (counts[code] ?? 0) + 1;
    }
  });
  return counts;
}

/** For each bound, how many members have at least that number. */
function countAbove(set: SlotSet, numbers: Float64Array, bounds: readonly number[]): number[] {
  const counts = bounds.map(() => 0);
  set.forBlocks((slots, length) => {
    for (const [b, bound] of bounds.entries()) {
      let found = 0;
      for (let i = 0; i < length; i++) found += Number((numbers[slots[i] ?? 0] ?? 0) >= bound);
      counts[b] = (counts[b] ?? 0) + found;
    }
  });
  return counts;
}

function countTopics(
  { topics }: ReadModel,
  set: SlotSet,
  { chosen, most }: { chosen: readonly string[]; most: number },
): ValueCounts {
  const counts = new Uint32Array(topics.names.names.length);
  const size = set.size;
  // Every `step`-th block of slots.
  const step = Math.ceil(size / MOST_TAGGED);
  let block = 0;
  let counted = 0;
  set.forBlocks((slots, length) => {
    if (block++ % step !== 0) return;
    counted += length;
    topics.count(counts, slots, length);
  });
  const factor = step <= 1 ? 1 : size / counted;
  const values = topOf(topics.names, counts, { chosen, most, isFolded: false });
  if (factor === 1) return { precision: "exact", values };
  // An estimate has two significant digits.
  const estimated = values.map(({ name, count }) => ({
    name,
    count: Number((count * factor).toPrecision(2)),
  }));
  return { precision: "sampled", values: estimated };
}

interface TopOptions {
  /** Values that are included whatever their count, in lower case. */
  chosen: readonly string[];
  /** Most of the other values. */
  most: number;
  /** Whether names that differ in case are one value, which has the most common of their spellings. */
  isFolded: boolean;
}

/** The values with the highest counts, and the chosen ones. */
function topOf({ names }: Names, counts: Uint32Array, { chosen, most, isFolded }: TopOptions): Counted[] {
  const found = new Map<string, Counted & { greatest: number }>();
  const wanted = new Set(chosen);
  // Most topics are rare: only those that may be among the first are looked at.
  const bound = isFolded
    ? 0
    : most === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(1, counts.toSorted().at(-most) ?? 0);
  for (let code = 1; code < names.length; code++) {
    const count = counts[code] ?? 0;
    const name = names[code] ?? "";
    if (count < bound && !wanted.has(name)) continue;
    const folded = isFolded ? name.toLowerCase() : name;
    const same = found.get(folded);
    if (same === undefined) found.set(folded, { name, count, greatest: count });
    else {
      same.count += count;
      if (count > same.greatest) [same.name, same.greatest] = [name, count];
    }
  }
  for (const name of wanted) if (!found.has(name)) found.set(name, { name, count: 0, greatest: 0 });
  const sorted = [...found].sort(([, a], [, b]) => b.count - a.count || (a.name < b.name ? -1 : 1));
  let left = most;
  return sorted.flatMap(([folded, { name, count }]) =>
    wanted.has(folded) || (count > 0 && left-- > 0) ? [{ name, count }] : [],
  );
}
