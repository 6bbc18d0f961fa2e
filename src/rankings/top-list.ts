/** A repository and what it is ranked by. */
export interface Entry {
  id: number;
  value: number;
}

/** The order of every ranking: the greater value, and of equal ones the greater id, as in lists. */
export function isBefore(a: Entry, b: Entry): boolean {
  return a.value > b.value || (a.value === b.value && a.id > b.id);
}

/** Keeps the first `size` of any number of entries, in constant time each on average. */
export class TopList {
  readonly #size: number;
  #entries: Entry[] = [];
  /** Nothing at or after this one can be among the first. */
  #last: Entry | undefined;
  /** Whether nothing had to be left out. */
  isWhole = true;

  constructor(size: number) {
    this.#size = size;
  }

  offer(value: number, id: number): void {
    const last = this.#last;
    if (last !== undefined && (value < last.value || (value === last.value && id <= last.id))) {
      this.isWhole = false;
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

  #cut(): void {
    this.#entries.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    if (this.#entries.length < this.#size) return;
    if (this.#entries.length > this.#size) {
      this.#entries.length = this.#size;
      this.isWhole = false;
    }
    this.#last = this.#entries.at(-1);
  }
}
