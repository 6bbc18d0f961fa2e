import { sql } from "kysely";
import type { Clock } from "../../clock.js";
import type { IndexMessage } from "./list-index.js";
import { commonFrom, type Part, partBytes } from "./parts.js";
import { readFacts, readTopics, readTrust } from "./read-facts.js";
import { INDEXED_ORDERS, orderName, readOrder, type Source } from "./read-orders.js";

export interface BuildOptions {
  source: Source;
  /** Bound of the memory of all parts. Orders that do not fit are left out. */
  maxBytes: number;
  clock: Pick<Clock, "monotonic">;
  /** Topics of fewer repositories are left out. Default: `commonFrom`. */
  leastOfTopic?: number;
  /** Receives each part as soon as it is read, so that no more than one is held twice, and then the end. */
  send: (message: IndexMessage) => void;
}

/** What was built. */
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
const BLOCK = 64;

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
  const slots = BLOCK * (Math.floor(highest / BLOCK) + 1);
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
