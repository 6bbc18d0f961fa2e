import { LRUCache } from "lru-cache";
import { WINDOWS, type Window } from "../rankings/rankings.js";
import type { ListRow, RowRequest } from "./row.js";

/** Bounds of the rows remembered; the bytes are estimated. */
const MAX_ROWS = 4_096;
const MAX_BYTES = 16 * 2 ** 20;
/** Rows whose last reading is noted, 8 bytes each. */
const NOTED = 16_384;
/** Rough size of a row with its cached JSON, apart from its strings. */
const ROW_BYTES = 2_000;

/** Rows that some memory has kept. */
const remembered = new WeakSet<ListRow>();

/** Whether a row is remembered for other lists, so that what is made from it may be kept with it. */
export function isRemembered(row: ListRow): boolean {
  return remembered.has(row);
}

/**
 * Remembers rows while the catalogue's revision stays the same: popular repositories are in most lists, and their rows, with what
 * is derived from them, cost more than everything else about a page. A row is kept from its second reading on, as most of a large
 * catalogue are read once, and would only give the garbage collector work. Evicts the least recently used row.
 */
export class RowMemory {
  #revision = -1;
  readonly #rows = new LRUCache<number, ListRow>({
    max: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });
  /** Keys of rows that were read lately, at any revision, each at one index: a later one replaces it. */
  readonly #noted = new Float64Array(NOTED);

  /** The rows of a request as far as they are known, undefined for all others. `revision` must have been read before. */
  find(revision: number, { ids, window }: RowRequest): (ListRow | undefined)[] {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#rows.clear();
    }
    // These rows may be newer than the revision that the request has seen.
    if (revision < this.#revision) return ids.map(() => undefined);
    return ids.map((id) => this.#rows.get(keyOf(id, window)));
  }

  /**
   * Keeps those of the rows that were read before, too. They were read after the revision; if it has grown since, they may be older, and
   * are not kept.
   */
  keep(revision: number, window: Window, rows: Iterable<ListRow>): void {
    if (revision !== this.#revision) return;
    for (const row of rows) {
      const key = keyOf(row.repository.id, window);
      if (this.#noted[key % NOTED] === key) {
        remembered.add(row);
        this.#rows.set(key, row);
      } else this.#noted[key % NOTED] = key;
    }
  }
}

function keyOf(id: number, window: Window): number {
  return id * WINDOWS.length + WINDOWS.indexOf(window);
}

function bytesOf({ repository }: ListRow): number {
  const { description, homepage, url, topics } = repository;
  const characters = url.length + (description?.length ?? 0) + (homepage?.length ?? 0) + topics.join().length;
  // Two bytes each in the row and three in the JSON, at most.
  return ROW_BYTES + 5 * characters;
}
