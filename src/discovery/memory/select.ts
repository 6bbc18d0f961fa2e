/** Selects a page of a list: the ids of its repositories in order, and how many there are in all. */
import type { GrowthOrder } from "../../growth/growth.js";
import { DEFAULT_SORT, isGrowthSort } from "../lists/sorts.js";
import { indexOfRelevance, LAST_NUMBERED, type ListSpec, type RowKey, relevanceAt } from "../lists/spec.js";
import { allOf, bestOf, type Matches } from "../search/relevance.js";
import { isGain, NO_GAIN, type PlainColumn, plainNumber } from "./columns.js";
import { matchesOf } from "./matches.js";
import { firstOf, type Order, type Place, walkSorted } from "./order.js";
import type { Evaluation, OrderName } from "./read-model.js";
import type { SlotSet } from "./slot-set.js";

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
