import { sql } from "kysely";
import type { Database } from "../../database/database.js";
import { GROWTH_ORDERS, WINDOWS } from "../../rankings/rankings.js";
import { isGrowthSort, type ListSpec, PLAIN_SORTS, type Sort } from "../spec.js";
import { orderOf } from "../sql/clauses.js";
import { encodeOrder, type SortedKeys } from "./encode.js";
import type { Order } from "./order.js";

/** What the index is read from: no writes, and no transaction that lasts longer than one statement. */
export type Source = Pick<Database, "read" | "dialect">;

/** Rows that one statement reads. */
export const ROWS_PER_READ = 50_000;

/** An order of the index: a sort, and the window of one by growth. */
export type IndexedOrder = Pick<ListSpec, "sort" | "window">;

export function orderName({ sort, window }: IndexedOrder): string {
  return isGrowthSort(sort) ? `${sort} ${window}` : sort;
}

/** All orders, those that matter most first. The plain ones are also needed by filters. */
export const INDEXED_ORDERS: readonly IndexedOrder[] = [
  ...PLAIN_SORTS.map((sort): IndexedOrder => ({ sort, window: "24h" })),
  ...GROWTH_ORDERS.flatMap((sort) => WINDOWS.map((window): IndexedOrder => ({ sort, window }))),
];

/** Whether an order is of a plain sort, which keeps repositories without a key. */
export function isPlain(sort: ListSpec["sort"]): sort is Sort & (typeof PLAIN_SORTS)[number] {
  return PLAIN_SORTS.some((name) => name === sort);
}

/**
 * Reads an order from the index of the database that the SQL plans walk, so that both are the same by construction. `space`
 * has room for a key of each slot; it may be used again.
 */
export async function readOrder(source: Source, of: IndexedOrder, space: SortedKeys): Promise<Order> {
  const plain = isPlain(of.sort);
  const count = await readSortedKeys(source, of, space);
  const sorted = { slots: space.slots.subarray(0, count), keys: space.keys.subarray(0, count) };
  return encodeOrder(sorted, { slots: space.slots.length, keepsUnknown: plain, isFilter: plain });
}

/** Fills the space. Returns the number of keys. */
async function readSortedKeys(
  { read, dialect }: Source,
  { sort, window }: IndexedOrder,
  space: SortedKeys,
): Promise<number> {
  const slots = space.slots.length;
  const minKey = isPlain(sort) ? 0 : Number.MIN_SAFE_INTEGER;
  const { tables, indexed, key, id } = orderOf({
    scope: { kind: "all" },
    filters: {},
    sort,
    window,
    direction: "desc",
    page: { limit: 1, offset: 0 },
  });
  let count = 0;
  let last = { key: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const page = await sql<{ ids: string; keys: string }>`
      select ${dialect.jsonArray(sql`id`)} as ids, ${dialect.jsonArray(sql`sort_key`)} as keys from (
        select ${id} as id, ${key} as sort_key from ${tables[0]}
        where ${indexed} and ${key} >= ${minKey} and (${key}, ${id}) < (${last.key}, ${last.id})
        order by ${key} desc, ${id} desc limit ${ROWS_PER_READ}) as page`.execute(read);
    const ids = numbersOf(page.rows[0]?.ids);
    const keys = numbersOf(page.rows[0]?.keys);
    for (const [i, id] of ids.entries()) {
      // Repositories that are newer than the slots wait for the next build. A row that moves meanwhile may be seen twice.
      if (id >= slots || count >= slots) continue;
      space.slots[count] = id;
      space.keys[count] = keys[i] ?? 0;
      count++;
    }
    if (ids.length < ROWS_PER_READ) return count;
    last = { key: keys.at(-1) ?? 0, id: ids.at(-1) ?? 0 };
  }
}

/** The numbers of a JSON array that the database has written. */
export function numbersOf(text: string | undefined): number[] {
  return JSON.parse(text ?? "[]");
}
