/** The values that lists filter and sort by, as columns of numbers: one entry for each slot, which belongs to one repository. */
import {
  GROWTH_ORDER_COLUMNS,
  GROWTH_ORDERS,
  type GrowthOrder,
  perWindow,
  WINDOWS,
} from "../../growth/growth.js";
import type { CatalogueRow, GrowthRow } from "./read-rows.js";
import { SlotSet } from "./slot-set.js";

export type PlainColumn = "stars" | "forks" | "pushed" | "created" | "updated";

/** Facts that plain sorts are by. Each number is the value plus 1; 0 means unknown. Times are in ms since 1970. */
const PLAIN_FACTS: Readonly<Record<PlainColumn, (row: CatalogueRow) => number | null>> = {
  stars: ({ stars }) => stars,
  forks: ({ forks }) => forks,
  pushed: ({ pushedAt }) => pushedAt,
  created: ({ createdAt }) => createdAt,
  updated: ({ refreshedAt }) => refreshedAt,
};

export const PLAIN_COLUMNS = Object.keys(PLAIN_FACTS) as PlainColumn[];

/** Facts that are names, as codes of `Names`. */
const NAMED_COLUMNS = ["provider", "language", "license"] as const;
export type NamedColumn = (typeof NAMED_COLUMNS)[number];

/** An unknown gain. */
export const NO_GAIN = -(2 ** 31);

/** Gains may be negative; scores are not, and 0 means none. */
export const isGain = (order: GrowthOrder): boolean => GROWTH_ORDER_COLUMNS[order].isGain;

/**
 * Names with numbers from 1; 0 means none. Names that differ only in case are one, in its newest spelling. A name that exceeds the
 * numbers of a column has none.
 */
export class Names {
  /** By name in lower case. */
  readonly #codes = new Map<string, number>();
  /** By code: when this spelling was reported last. */
  readonly #spelledAt: number[] = [0];
  /** By code. */
  readonly names: string[] = [""];

  /** The code of a name, in any case; 0 if it is not known. */
  codeOf(name: string): number {
    return this.#codes.get(name.toLowerCase()) ?? 0;
  }

  /** The code of a name, which is added if it is new. `at`: when it was reported so; of two at the same time, the first by character codes stays. */
  add(name: string | null, { most = MAX_NAMES, at = 0 }: { most?: number; at?: number } = {}): number {
    if (name === null || name === "") return 0;
    const key = name.toLowerCase();
    const known = this.#codes.get(key);
    if (known === undefined) {
      if (this.names.length > most) return 0;
      const code = this.names.push(name) - 1;
      this.#spelledAt.push(at);
      this.#codes.set(key, code);
      return code;
    }
    const [spelling = "", spelledAt = 0] = [this.names[known], this.#spelledAt[known]];
    if (at > spelledAt || (at === spelledAt && name < spelling)) {
      this.names[known] = name;
      this.#spelledAt[known] = at;
    }
    return known;
  }

  /** A table with a 1 at the codes of some names. */
  table(isWanted: (name: string) => boolean): Uint8Array {
    return Uint8Array.from(this.names, (name, code) => Number(code > 0 && isWanted(name)));
  }
}

/** There are a few hundred languages and licenses. */
const MAX_NAMES = 65_535;

export class Columns {
  /** Slots in use. */
  size = 0;
  #capacity = 0;
  id = new Float64Array(0);
  readonly plain = recordOf(PLAIN_COLUMNS, () => NO_NUMBERS);
  readonly named = recordOf(NAMED_COLUMNS, () => NO_CODES);
  readonly names = recordOf(NAMED_COLUMNS, () => new Names());
  readonly growth = perWindow(() =>
    recordOf(GROWTH_ORDERS, (order): Int32Array | Uint32Array => (isGain(order) ? NO_GAINS : EMPTY)),
  );
  /** Available repositories: only they are in lists. */
  readonly listed = new SlotSet(0);
  readonly archived = new SlotSet(0);
  readonly fork = new SlotSet(0);
  /** Members by their trend: it is reliable, or has no open anomaly. */
  readonly trust = perWindow(() => ({ reliable: new SlotSet(0), clean: new SlotSet(0) }));
  /** By slot: hashes of the full name in lower case, and of all texts. */
  nameHash = EMPTY;
  textHash = EMPTY;

  /** Slots that there is room for. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The next slot, for a repository with this id. */
  append(id: number): number {
    const slot = this.size++;
    if (slot === this.#capacity) this.#grow(Math.max(1_024, Math.ceil(this.#capacity * 1.25)));
    this.id[slot] = id;
    return slot;
  }

  #grow(capacity: number): void {
    this.#capacity = capacity;
    this.id = larger(this.id, capacity, Float64Array);
    this.nameHash = larger(this.nameHash, capacity, Uint32Array);
    this.textHash = larger(this.textHash, capacity, Uint32Array);
    for (const name of PLAIN_COLUMNS) this.plain[name] = larger(this.plain[name], capacity, Float64Array);
    for (const name of NAMED_COLUMNS) this.named[name] = larger(this.named[name], capacity, Uint16Array);
    for (const set of [this.listed, this.archived, this.fork]) set.grow(capacity);
    for (const window of WINDOWS) {
      const [growth, trust] = [this.growth[window], this.trust[window]];
      trust.reliable.grow(capacity);
      trust.clean.grow(capacity);
      for (const order of GROWTH_ORDERS)
        growth[order] = isGain(order)
          ? larger(growth[order], capacity, Int32Array)
          : larger(growth[order], capacity, Uint32Array);
    }
  }

  setFacts(slot: number, row: CatalogueRow): void {
    const { plain, named, names } = this;
    for (const name of PLAIN_COLUMNS) plain[name][slot] = plainNumber(PLAIN_FACTS[name](row));
    for (const name of NAMED_COLUMNS)
      named[name][slot] = names[name].add(row[name], { at: row.refreshedAt ?? 0 });
    this.listed.put(slot, row.isListed);
    this.archived.put(slot, row.isArchived);
    this.fork.put(slot, row.isFork);
  }

  /** `rows`: one for each window in which the repository has a trend. */
  setGrowth(slot: number, rows: readonly GrowthRow[]): void {
    for (const window of WINDOWS) {
      const row = rows.find((one) => one.window === window);
      const { reliable, clean } = this.trust[window];
      reliable.put(slot, row?.isReliable === true);
      clean.put(slot, row?.isAnomalous === false);
      const growth = this.growth[window];
      for (const [i, order] of GROWTH_ORDERS.entries())
        growth[order][slot] = isGain(order) ? gainNumber(row?.values[i]) : (row?.values[i] ?? 0);
    }
  }
}

function gainNumber(value: number | null | undefined): number {
  return value === null || value === undefined
    ? NO_GAIN
    : Math.min(Math.max(value, NO_GAIN + 1), 2 ** 31 - 1);
}

/** The number of a fact. */
export function plainNumber(value: number | null): number {
  return value === null ? 0 : Math.max(0, value) + 1;
}

const NO_NUMBERS = new Float64Array(0);
const EMPTY = new Uint32Array(0);
const NO_CODES = new Uint16Array(0);
const NO_GAINS = new Int32Array(0);

function recordOf<Name extends string, Value>(names: readonly Name[], initial: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, initial(name)])) as Record<Name, Value>;
}

function larger<T extends { set(from: ArrayLike<number>): void }>(
  numbers: ArrayLike<number>,
  capacity: number,
  Numbers: new (length: number) => T,
): T {
  const copy = new Numbers(capacity);
  copy.set(numbers);
  return copy;
}
