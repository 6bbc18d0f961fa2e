import type { Summary } from "../rankings/rankings.js";

/** Facts about a list that hold for one revision of the catalogue. */
export interface ListFacts {
  /** Number of matches; EXACT_TOTAL + 1 if there are more. */
  total?: number;
  /** The languages of the filter as the catalogue spells them. */
  languages?: readonly string[];
  /** Facts about the whole catalogue, shared by all lists. */
  catalogue: { summary?: Summary; licenses?: readonly string[] };
}

/** Number of lists remembered. */
const CAPACITY = 1_000;

/**
 * Remembers facts about lists while the catalogue's revision stays the same: most of the time of a page would go into
 * counting what an earlier page has counted. Evicts the least recently used list.
 */
export class ListMemory {
  #revision = -1;
  #catalogue: ListFacts["catalogue"] = {};
  readonly #lists = new Map<string, ListFacts>();

  /** The facts of a list, for the caller to add to. `revision` must have been read before the list is. */
  of(revision: number, key: string): ListFacts {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#catalogue = {};
      this.#lists.clear();
    }
    // A request that started before the revision grew may find stale facts; they are not kept.
    if (revision < this.#revision) return { catalogue: {} };
    const facts = this.#lists.get(key) ?? { catalogue: this.#catalogue };
    this.#lists.delete(key);
    this.#lists.set(key, facts);
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > CAPACITY && oldest.done !== true) this.#lists.delete(oldest.value);
    return facts;
  }
}
