/** Evaluates a list in memory: the repositories that meet its filters, a page of them in its order, and counts by other filters. */
import type { GrowthOrder } from "../growth/growth.js";
import { isGain, type NamedColumn, type Names, NO_GAIN, type PlainColumn, plainNumber } from "./columns.js";
import { type Dimension, eachFilter, isFiltered } from "./filters.js";
import type { Evaluation, OrderName, ReadModel } from "./model.js";
import {
  DEFAULT_SORT,
  indexOfRelevance,
  isGrowthSort,
  LAST_NUMBERED,
  type ListSpec,
  type RowKey,
  relevanceAt,
} from "./query.js";
import { allOf, bestOf, type Matches } from "./search.js";
import { firstOf, type Order, type Place, type SlotSet, walkSorted } from "./slots.js";

interface Matching extends Pick<ListSpec, "filters" | "window"> {
  /** Absent: all listed ones. */
  among?: SlotSet | undefined;
  /** A dimension whose filters are left out. */
  except?: Dimension | undefined;
}

/** The listed repositories that meet the filters. */
export function matchesOf(evaluation: Evaluation, { filters, window, among, except }: Matching): SlotSet {
  const { columns } = evaluation.model;
  const set = evaluation.set().copy(columns.listed);
  if (among !== undefined) set.and(among);
  const tests = eachFilter(filters, (filter, value) =>
    filter.dimension === except ? [] : [filter.test(value, evaluation, window)],
  ).flat();
  for (const test of tests) {
    if (!("set" in test)) continue;
    if (test.isMember === true) set.and(test.set);
    if (test.isMember === false) set.andNot(test.set);
  }
  // Columns come last, as each costs time for all that are left, and the provider, which leaves most, comes last of them.
  for (const test of tests.reverse()) {
    if ("isWanted" in test)
      set.keepCodes(columns.named[test.column], columns.names[test.column].table(test.isWanted));
    else if ("column" in test)
      set.keepRange(columns.plain[test.column], test.first ?? 1, test.last ?? Number.POSITIVE_INFINITY);
  }
  return set;
}

export interface Selection {
  ids: number[];
  total: number;
  /** The last row of the page; undefined if no row comes after it. */
  last: RowKey | undefined;
}

type ColumnSort = PlainColumn | GrowthOrder | typeof DEFAULT_SORT;
type Page = Pick<ListSpec, "direction" | "window" | "page">;
type FilteredPage = Page & Pick<ListSpec, "filters">;

/** Selects a page in the order of a column; `among`: of the matches of a search. */
export function selectByColumn(
  evaluation: Evaluation,
  sort: ColumnSort,
  list: FilteredPage & { among: SlotSet | undefined },
): Selection {
  const { model } = evaluation;
  const name = orderName(sort, list);
  const matches = matchesOf(evaluation, list);
  // Orders by a fact also hold those for which it is unknown.
  if ("growth" in name) matches.and(model.members(name));
  return selectFrom(matches, { sort, order: model.order(name), sorted: () => model.sorted(name) }, list);
}

/** Selects a page of given repositories, including those whose number in the order is unknown. */
export function selectAmong(
  evaluation: Evaluation,
  sort: ColumnSort,
  list: Page & { ids: readonly number[] },
): Selection {
  const { model } = evaluation;
  const matches = evaluation.set();
  for (const id of list.ids) {
    const slot = model.slotOf(id);
    if (slot >= 0) matches.add(slot);
  }
  const order = model.order(orderName(sort, list));
  const unknown = isGrowthSort(sort) && isGain(sort) ? NO_GAIN : 0;
  return selectFrom(matches, { sort, order: { ...order, unknown }, sorted: () => undefined }, list);
}

function orderName(sort: ColumnSort, { window }: Pick<ListSpec, "window">): OrderName {
  if (sort === DEFAULT_SORT) return { trendingFirst: window };
  return isGrowthSort(sort) ? { growth: sort, window } : { column: sort };
}

interface Ordering {
  sort: ColumnSort;
  order: Order;
  /** The slots of the order, sorted, if they are. */
  sorted: () => Uint32Array | undefined;
}

/** Slots are tested along a sorted order if that seems to look at this part of the matches at most. */
const WALKED = 0.5;

function selectFrom(
  matches: SlotSet,
  { sort, order, sorted }: Ordering,
  { page, direction }: Page,
): Selection {
  const total = matches.size;
  const [offset, after] = "after" in page ? [0, placeOf(sort, page.after)] : [page.offset, undefined];
  const count = offset + page.limit + 1;
  const options = { direction, count, after };
  const along = total > count ? sorted() : undefined;
  const steps = along === undefined ? Number.POSITIVE_INFINITY : (along.length * count) / total;
  const walked =
    along !== undefined && steps < WALKED * total
      ? walkSorted(
          matches,
          { ...order, sorted: along },
          { ...options, most: Math.ceil(4 * steps + WALKED * total) },
        )
      : undefined;
  const slots = (walked ?? firstOf(matches, order, options)).slice(offset);
  const shown = slots.slice(0, page.limit);
  const ids = shown.map((slot) => order.id[slot] ?? 0);
  const end = slots.length > shown.length ? shown.at(-1) : undefined;
  const key = (slot: number) => ({ sortKey: keyOf(sort, order.numbers[slot] ?? 0), id: order.id[slot] ?? 0 });
  return { ids, total, last: end === undefined ? undefined : key(end) };
}

/** Selects a page of the matches of a search, best first. */
export function selectByRelevance(evaluation: Evaluation, found: Matches, list: FilteredPage): Selection {
  const { page } = list;
  let matches = found;
  if (Object.keys(list.filters).length > 0) {
    const kept = matchesOf(evaluation, { ...list, among: allOf(evaluation, found) });
    matches = {
      ...found,
      tiers: found.tiers.map((tier) => ({ ...tier, set: tier.set.and(kept) })),
      total: kept.size,
    };
  }
  const wanted = "after" in page ? indexOfRelevance(page.after.sortKey) + 1 : page.offset;
  // Nobody reads a search that far, and finding its best takes time for each.
  const begin = Math.min(Math.max(0, wanted), LAST_NUMBERED);
  const end = Math.min(begin + page.limit, LAST_NUMBERED);
  const { model } = evaluation;
  const { id } = model.columns;
  const ids = bestOf(model, matches, end + 1)
    .slice(begin)
    .map((slot) => id[slot] ?? 0);
  const shown = ids.slice(0, end - begin);
  const last = shown.at(-1);
  const hasMore = ids.length > shown.length && last !== undefined && end < LAST_NUMBERED;
  return {
    ids: shown,
    total: matches.total,
    last: hasMore ? { sortKey: relevanceAt(end - 1), id: last } : undefined,
  };
}

/** A number of an order as the sort key of a cursor, which is the value that the API shows; -1 for an unknown fact. */
function keyOf(sort: ColumnSort, number: number): number {
  if (isGrowthSort(sort) || sort === DEFAULT_SORT) return number;
  return number - 1;
}

function placeOf(sort: ColumnSort, { sortKey, id }: RowKey): Place {
  if (isGrowthSort(sort) || sort === DEFAULT_SORT) return { number: sortKey, id };
  return { number: plainNumber(sortKey < 0 ? null : sortKey), id };
}

/** Filters by the least number or time, for which some bounds are offered. */
export type BoundFilter = "minStars" | "createdAfter" | "pushedAfter";

/** The values that a list is counted by: offered bounds, and names. */
export interface CountRequest extends Readonly<Record<BoundFilter, readonly number[]>> {
  /** Maximum number of values of each kind, not counting those in the filters. */
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
