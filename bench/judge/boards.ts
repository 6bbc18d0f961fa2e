/** The top of every growth ranking on a day of an archive, by the service's own scores, scales and order. */

import type { BulkRow } from "../../src/database/dialect.js";
import {
  GROWTH_ORDER_COLUMNS,
  type GrowthOrder,
  WINDOW_HOURS,
  WINDOWS,
  type Window,
} from "../../src/growth/definitions.js";
import type { Growth } from "../../src/growth/gains.js";
import { growthOf } from "../../src/growth/gains.js";
import type { History } from "../../src/growth/history.js";
import { ROLLUPS, rollupRow } from "../../src/growth/rollups.js";
import type { Archive, Track } from "./archive.js";
import { historyAt, recencyAt } from "./judged.js";

/** The rankings that a campaign is looked for in. */
export const JUDGED_ORDERS = ["trending", "rising", "stars-gained"] as const satisfies readonly GrowthOrder[];
export const TOP = 25;

/** A list: a ranking in a window, with or without anomalous repositories. */
export interface List {
  order: (typeof JUDGED_ORDERS)[number];
  window: Window;
  excludeAnomalous: boolean;
}

export const LISTS: readonly List[] = JUDGED_ORDERS.flatMap((order) =>
  WINDOWS.flatMap((window) => [true, false].map((excludeAnomalous) => ({ order, window, excludeAnomalous }))),
);

interface Entry {
  name: string;
  value: number;
}

/** The lists of one day, in the order of LISTS. */
export type DayBoards = Entry[][];

/** The columns that lists need, with their places in a stored row. */
const PLACES = [
  ...new Set([
    "window_hours",
    "anomalous",
    ...Object.values(GROWTH_ORDER_COLUMNS).map(({ column }) => column),
  ]),
].map((name) => [name, Object.keys(ROLLUPS.columns).indexOf(name)] as const);

/** What lists need of the row that the service stores for a growth, by the names of the columns. */
type ListedRow = Readonly<Record<string, BulkRow[number]>>;

function listedRow(history: History, growth: Growth): ListedRow {
  const values = rollupRow(history, growth);
  return Object.fromEntries(PLACES.map(([name, place]) => [name, values[place] ?? null]));
}

/** The boards at a capture time of the archive. Costs a comparison of every repository. */
export function boardsAt({ tracks, source }: Pick<Archive, "tracks" | "source">, at: number): DayBoards {
  const recency = recencyAt(source, at);
  const lists: Entry[][] = LISTS.map(() => []);
  for (const track of tracks) {
    const index = track.readings.countBefore(at + 1) - 1;
    if (index < 0 || track.readings.at(index) !== at) continue;
    const history = historyAt(track, index, source);
    for (const growth of growthOf(history, recency)) {
      const row = listedRow(history, growth);
      for (const [i, list] of LISTS.entries()) {
        const value = valueIn(row, list);
        if (value !== undefined) lists[i]?.push({ name: track.name, value });
      }
    }
  }
  // One more than the top, as the repository that is judged is left out.
  return lists.map((list) => list.sort((a, b) => b.value - a.value).slice(0, TOP + 1));
}

/** The sort key of a row in a list; undefined if the list does not hold it. */
function valueIn(row: ListedRow, { order, window, excludeAnomalous }: List): number | undefined {
  if (row.window_hours !== WINDOW_HOURS[window] || (excludeAnomalous && row.anomalous === 1))
    return undefined;
  const { column, positiveOnly } = GROWTH_ORDER_COLUMNS[order];
  const value = row[column];
  return typeof value !== "number" || (positiveOnly && value <= 0) ? undefined : value;
}

/** The lists whose top 25 a changed track enters on a day, where the unchanged one was not already in it. */
export function enteredLists(
  lists: DayBoards,
  { track, index, source }: { track: Track; index: number; source: string },
): List[] {
  const recency = recencyAt(source, track.readings.at(index));
  const history = historyAt(track, index, source);
  const rows = growthOf(history, recency).map((growth) => listedRow(history, growth));
  return LISTS.filter((list, i) => {
    const top = lists[i] ?? [];
    if (top.slice(0, TOP).some(({ name }) => name === track.name)) return false;
    const values = rows.flatMap((row) => valueIn(row, list) ?? []);
    const last = top[TOP - 1]?.value ?? Number.NEGATIVE_INFINITY;
    return values.some((value) => value > last);
  });
}
