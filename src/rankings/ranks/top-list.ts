/** A repository and the value it is ranked by. */
export interface Entry {
  id: number;
  value: number;
}

/** The order of every ranking: the greater value first; of equal values the greater id first, as in lists. */
export function isBefore(a: Entry, b: Entry): boolean {
  return a.value > b.value || (a.value === b.value && a.id > b.id);
}

/** For sorting entries best first. */
export function compareEntries(a: Entry, b: Entry): number {
  return isBefore(a, b) ? -1 : 1;
}

/** Keeps the best `size` of any number of entries. Each costs constant time on average. */
export class TopList {
  readonly #size: number;
  #entries: Entry[] = [];
  /** Entries that do not come before this one are not among the best. */
  #last: Entry | undefined;
  #isTruncated = false;

  constructor(size: number) {
    this.#size = size;
  }

  offer(value: number, id: number): void {
    const last = this.#last;
    if (last !== undefined && (value < last.value || (value === last.value && id <= last.id))) {
      this.#isTruncated = true;
      return;
    }
    this.#entries.push({ id, value });
    if (this.#entries.length >= 2 * this.#size) this.#cut();
  }

  /** Best first. */
  entries(): readonly Entry[] {
    this.#cut();
    return this.#entries;
  }

  /** Whether entries were left out. */
  get isTruncated(): boolean {
    this.#cut();
    return this.#isTruncated;
  }

  #cut(): void {
    this.#entries.sort(compareEntries);
    if (this.#entries.length < this.#size) return;
    if (this.#entries.length > this.#size) {
      this.#entries.length = this.#size;
      this.#isTruncated = true;
    }
    this.#last = this.#entries.at(-1);
  }
}
