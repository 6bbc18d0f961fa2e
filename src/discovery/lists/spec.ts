/** A list as plain data, its canonical text, and the cursors tied to it. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Window } from "../../growth/growth.js";
import { AppError } from "../../lib/errors.js";
import { type Filters, foldedLicense, isFiltered } from "./filters.js";
import { DEFAULT_SORT, isGrowthSort, type Sort } from "./sorts.js";

/** Pages are reached by number up to this row, and by cursor beyond. */
export const LAST_NUMBERED = 10_000;

/** The repositories that a list chooses from. */
export type Scope =
  | { kind: "all" }
  /** The matches of this text. Typing errors are corrected unless `verbatim`. */
  | { kind: "search"; text: string; verbatim?: true }
  | { kind: "watchlist"; id: number };

/** Identifies a row within the order of a list; a cursor continues after it. */
export interface RowKey {
  sortKey: number;
  id: number;
}

/** A list of repositories, as plain data: two equal specs give equal lists while the catalogue does not change. */
export interface ListSpec {
  scope: Scope;
  filters: Filters;
  sort: Sort | "added" | typeof DEFAULT_SORT;
  /** Unknown values come last in both directions. */
  direction: "asc" | "desc";
  /** The window of the trends, and of a sort by growth. */
  window: Window;
  page: { limit: number; offset: number } | { limit: number; after: RowKey };
}

/** A canonical text of a list without its page; without the window if neither order nor filters depend on it. */
export function listKey({ scope, filters, sort, direction, window }: Omit<ListSpec, "page">): string {
  const dependsOnWindow = isGrowthSort(sort) || sort === DEFAULT_SORT || isFiltered(filters, "trend");
  const { license } = filters;
  const folded = license === undefined ? filters : { ...filters, license: foldedLicense(license) };
  const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(scope), sorted(folded), sort, direction, dependsOnWindow ? window : null]);
}

const CURSOR = z.tuple([z.string(), z.int(), z.int().min(0)]);
const NOT_A_CURSOR = "not a cursor of this query; start again without one";

/** Ties a cursor to its list. */
function fingerprint(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 12);
}

/** An opaque text that continues the list with this key after a row. */
export function encodeCursor(listKey: string, { sortKey, id }: RowKey): string {
  return Buffer.from(JSON.stringify([fingerprint(listKey), sortKey, id])).toString("base64url");
}

/** The row in a cursor. Throws INVALID_REQUEST for a cursor that was not made for this list. */
export function decodeCursor(listKey: string, cursor: string): RowKey {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const parsed = CURSOR.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(listKey)) {
    throw new AppError("INVALID_REQUEST", `cursor: ${NOT_A_CURSOR}`, {
      details: [{ parameter: "cursor", message: NOT_A_CURSOR }],
    });
  }
  return { sortKey: parsed.data[1], id: parsed.data[2] };
}

/** The sort key of the match at an index of a search's order: as in other orders, a greater one comes first. */
export function relevanceAt(index: number): number {
  return LAST_NUMBERED + 1 - index;
}

/** The reverse. */
export function indexOfRelevance(sortKey: number): number {
  return LAST_NUMBERED + 1 - sortKey;
}
