import type { Database } from "../database/database.js";
import type { ListIndex } from "./index/list-index.js";
import { belongs, inOrder } from "./recheck.js";
import type { ListRow } from "./row.js";
import type { RowReader } from "./rows.js";
import { EXACT_TOTAL, type ListSpec, type RowKey } from "./spec.js";
import { idsWithTopics } from "./sql/ids.js";

/** A page that was selected with the list index. */
export interface IndexedRows {
  rows: ListRow[];
  /** Number of matches, at most EXACT_TOTAL + 1. */
  total: number;
  /** Repositories in the scope, at most EXACT_TOTAL + 1; 0 for everything. */
  scoped: number;
  /** The row after which the next page begins; undefined at the end of the list. */
  last: RowKey | undefined;
}

export interface IndexedReading {
  database: Database;
  rows: RowReader;
  index: ListIndex;
}

/** Statements for the rows of one page. More than one are needed only if repositories have left the list since. */
const MAX_READS = 4;

/**
 * Reads a page with the list index, usually in one statement; rare topics take one more. The rows are as they
 * are now: none contradicts the filters, and they are in order. Which rows it finds, and the total, are as old as the index.
 * Undefined if the index cannot serve the list.
 */
export async function readIndexed(
  { database, rows: reader, index }: IndexedReading,
  spec: ListSpec,
): Promise<IndexedRows | undefined> {
  const { scope, page, window } = spec;
  const rare = index.rareTopics(spec);
  const rareTopics = rare.length === 0 ? [] : await idsWithTopics(database, rare);
  if (rareTopics === undefined) return undefined;
  const matched = scope.kind === "found" ? scope.ids : undefined;
  const selection = index.select(spec, { scope: matched, rareTopics }, EXACT_TOTAL);
  if (selection === undefined) return undefined;
  const wanted = page.limit + 1;
  const rows: ListRow[] = [];
  for (let reads = 0; rows.length < wanted; reads++) {
    if (reads === MAX_READS) return undefined;
    const ids = selection.take(wanted - rows.length);
    if (ids.length === 0) break;
    for (const row of await reader.read(ids, window)) if (belongs(row, spec)) rows.push(row);
  }
  // The rows of the page are the first ones of the index, so that the next page misses none. They are sorted as they are now.
  const shown = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1)?.repository.id : undefined;
  return {
    rows: spec.sort === "relevance" ? shown : inOrder(shown, spec),
    total: selection.total,
    scoped: matched?.length ?? 0,
    last: last === undefined ? undefined : { sortKey: selection.keyOf(last), id: last },
  };
}
