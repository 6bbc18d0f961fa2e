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

/** Entries, the best first, as numbers: the leaderboards have more than a million of them. */
export class Entries {
  /** The value and the id of each. */
  readonly numbers: Float64Array;
  readonly length: number;

  constructor(numbers: Float64Array) {
    this.numbers = numbers;
    this.length = numbers.length / 2;
  }

  static of(entries: readonly Entry[]): Entries {
    return new Entries(Float64Array.from(entries.flatMap(({ value, id }) => [value, id])));
  }

  /** The id of the repository at an index; 0 beyond the end. */
  id(index: number): number {
    return this.numbers[2 * index + 1] ?? 0;
  }

  /** undefined beyond the ends. */
  at(index: number): Entry | undefined {
    return index < 0 || index >= this.length
      ? undefined
      : { id: this.id(index), value: this.numbers[2 * index] ?? 0 };
  }

  /** Whether a repository of a set is in one of them. */
  hasAny(ids: ReadonlySet<number>): boolean {
    for (let index = 0; index < this.length; index++) if (ids.has(this.id(index))) return true;
    return false;
  }

  /** The first `most` ids. */
  ids(most = this.length): number[] {
    return Array.from({ length: Math.min(most, this.length) }, (_, index) => this.id(index));
  }

  isSame({ numbers }: Entries): boolean {
    if (numbers.length !== this.numbers.length) return false;
    for (let i = 0; i < numbers.length; i++) if (numbers[i] !== this.numbers[i]) return false;
    return true;
  }
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
