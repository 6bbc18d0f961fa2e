import { LRUCache } from "lru-cache";
import { WINDOWS, type Window } from "../rankings/rankings.js";
import type { ListRow, RowRequest } from "./row.js";

/** Bounds of the rows remembered; the bytes are estimated. */
const MAX_ROWS = 4_096;
const MAX_BYTES = 16 * 2 ** 20;
/** Rough size of a row with its cached JSON, apart from its strings. */
const ROW_BYTES = 2_000;

/**
 * Remembers rows while the catalogue's revision stays the same: popular repositories are in most lists, and their rows, with what
 * is derived from them, cost more than everything else about a page. Evicts the least recently used row.
 */
export class RowMemory {
  #revision = -1;
  readonly #rows = new LRUCache<number, ListRow>({
    max: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });

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

  /** Keeps rows that were read after the revision, unless it has grown since: then they may be older. */
  keep(revision: number, window: Window, rows: Iterable<ListRow>): void {
    if (revision !== this.#revision) return;
    for (const row of rows) this.#rows.set(keyOf(row.repository.id, window), row);
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
