/** What has been found out of a list; it holds for one revision of the catalogue. */
export interface KnownList {
  /** How many repositories it has, and one more than can be counted where there are more. */
  total?: number;
  /** So many rows, and more, are not to be had from the head of its order. */
  tooMany?: number;
}

/** Lists that are known at a time. */
const MOST = 1_000;

/**
 * What has been found out of lists, by their names, as long as the catalogue's revision stays: most of the time that a
 * page takes would go into counting what another page has counted.
 */
export class KnownLists {
  #revision = -1;
  readonly #lists = new Map<string, KnownList>();

  /** What is known of a list, for whoever finds out more to add it. `revision` was read before the list is. */
  of(revision: number, name: string): KnownList {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#lists.clear();
    }
    const known = this.#lists.get(name) ?? {};
    // Somebody who has read the revision before it grew finds out what holds no more.
    if (revision < this.#revision) return {};
    this.#lists.delete(name);
    this.#lists.set(name, known);
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > MOST && oldest.done !== true) this.#lists.delete(oldest.value);
    return known;
  }
}
