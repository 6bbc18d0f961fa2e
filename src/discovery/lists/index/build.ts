/** Builds the list index: reads its parts from the database one after the other, orders last, as far as they fit in memory. */
import { sql } from "kysely";
import { GROWTH_ORDERS, WINDOWS } from "../../../growth/growth.js";
import type { Clock } from "../../../lib/clock.js";
import { type ListSpec, PLAIN_SORTS } from "../spec.js";
import { orderOf } from "../sql.js";
import { encodeOrder, type SortedKeys } from "./encode.js";
import type { IndexMessage } from "./list-index.js";
import { type IndexedOrder, type Order, orderName } from "./order.js";
import { commonFrom, type Part, partBytes } from "./parts.js";
import { numbersOf, ROWS_PER_READ, readFacts, readTopics, readTrust, type Source } from "./read-facts.js";

interface BuildOptions {
  source: Source;
  /** Bound of the memory of all parts. Orders that do not fit are left out. */
  maxBytes: number;
  clock: Pick<Clock, "monotonic">;
  /** Topics of fewer repositories are left out. Default: `commonFrom`. */
  leastOfTopic?: number;
  /** Receives each part as soon as it is read, so that no more than one is held twice, and then the end. */
  send: (message: IndexMessage) => void;
}

/** The result of a build. */
export interface Built {
  revision: number;
  repositories: number;
  bytes: number;
  /** Orders that did not fit. */
  left: readonly string[];
  /** Why there is no index; undefined if there is one. */
  problem?: string;
}

/** Bytes per slot of the parts without which there is no index: facts, trust, and the plain orders. */
const MIN_BYTES_PER_SLOT = 40;
/** Slots are ids. Where ids have gaps, at most this many slots per repository are accepted, and some more. */
const MAX_GAPS = 2;
const SPARE_SLOTS = 10_000;
/** The number of slots is a multiple of this, for sets with a bit for each. */
const SLOT_MULTIPLE = 64;

/** The revision of the catalogue. */
async function readRevision({ read }: Source): Promise<number> {
  const found = await sql<{ value: number }>`select value from revision where id = 1`.execute(read);
  return Number(found.rows[0]?.value ?? 0);
}

/** Reads the whole index, part by part. Throws if the database does. */
export async function buildIndex(options: BuildOptions): Promise<Built> {
  const { source, maxBytes, clock, send } = options;
  const readAt = clock.monotonic();
  const revision = await readRevision(source);
  const found = await sql<{ highest: number | null; repositories: number }>`
    select max(id) as highest, count(*) as repositories from repositories`.execute(source.read);
  const highest = Number(found.rows[0]?.highest ?? 0);
  const repositories = Number(found.rows[0]?.repositories ?? 0);
  const slots = SLOT_MULTIPLE * (Math.floor(highest / SLOT_MULTIPLE) + 1);
  const problem =
    slots > MAX_GAPS * repositories + SPARE_SLOTS
      ? `the highest id is ${highest}, too far above the number of repositories`
      : slots * MIN_BYTES_PER_SLOT > maxBytes
        ? "it needs more memory"
        : undefined;
  if (problem !== undefined) {
    send({ kind: "none" });
    return { revision, repositories, bytes: 0, left: [], problem };
  }
  let bytes = 0;
  const add = (part: Part) => {
    bytes += partBytes(part);
    send({ kind: "part", part });
  };
  add({ kind: "facts", facts: await readFacts(source, slots) });
  add({ kind: "trust", trust: await readTrust(source, slots) });
  add({ kind: "topics", topics: await readTopics(source, slots, options.leastOfTopic ?? commonFrom(slots)) });
  const orders: string[] = [];
  const left: string[] = [];
  const space = { slots: new Uint32Array(slots), keys: new Float64Array(slots) };
  for (const of of INDEXED_ORDERS) {
    const name = orderName(of);
    const part: Part = { kind: "order", name, order: await readOrder(source, of, space) };
    const fits = bytes + partBytes(part) <= maxBytes;
    if (fits) add(part);
    (fits ? orders : left).push(name);
  }
  send({ kind: "built", revision, readAt, orders });
  return { revision, repositories, bytes, left };
}

/** All orders, those that matter most first. The plain ones are also needed by filters. */
export const INDEXED_ORDERS: readonly IndexedOrder[] = [
  ...PLAIN_SORTS.map((sort): IndexedOrder => ({ sort, window: "24h" })),
  ...GROWTH_ORDERS.flatMap((sort) => WINDOWS.map((window): IndexedOrder => ({ sort, window }))),
];

/** Whether an order is of a plain sort, which keeps repositories without a key. */
function isPlain(sort: ListSpec["sort"]): boolean {
  return PLAIN_SORTS.some((name) => name === sort);
}

/**
 * Reads an order from the index of the database that the SQL plans walk, so that both are the same by construction. `space`
 * has room for a key of each slot; it may be used again.
 */
async function readOrder(source: Source, of: IndexedOrder, space: SortedKeys): Promise<Order> {
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
