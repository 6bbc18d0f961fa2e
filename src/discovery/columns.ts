/**
 * The values that lists filter and sort by, as columns of numbers, and topics, both ways. A column has one entry for each slot, which
 * belongs to one repository. `RowSource` reads the rows that they are filled from.
 */
import { type RawBuilder, sql } from "kysely";
import { columns, type Database, type Prepared, type ValuesOf } from "../database/database.js";
import {
  GROWTH_ORDER_COLUMNS,
  GROWTH_ORDERS,
  type GrowthOrder,
  perWindow,
  WINDOWS,
  type Window,
  windowOfHours,
} from "../growth/growth.js";
import { shownValues } from "../repositories/repositories.js";
import { PackedLists, SlotSet } from "./slots.js";

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
  readonly days = new DayGains();
  /** By slot: hashes of the full name in lower case, and of all texts. */
  nameHash = EMPTY;
  textHash = EMPTY;

  /** Number of slots that are allocated. */
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
    this.days.grow(capacity);
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
    this.days.set(slot, rows.find(({ days }) => days !== null)?.days ?? null);
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

/** Days whose gains are known. */
const DAYS = 30;
/** A gain that 16 bits have no room for, and that of a repository whose days are unknown. */
const GREAT = -(2 ** 15);
const UNKNOWN = GREAT + 1;

/** The stars that repositories gained in each of 30 days, by slot. */
export class DayGains {
  #numbers = new Int16Array(0);
  readonly #great = new Map<number, number>();

  grow(capacity: number): void {
    this.#numbers = larger(this.#numbers, capacity * DAYS, Int16Array);
  }

  /** `days`: the gains, oldest first, joined by commas; null: unknown. */
  set(slot: number, days: string | null): void {
    const begin = slot * DAYS;
    if (days === null) {
      this.#numbers[begin] = UNKNOWN;
      return;
    }
    for (const [i, text] of days.split(",").entries()) {
      const gain = Number(text);
      const isGreat = Math.abs(gain) >= -UNKNOWN;
      this.#numbers[begin + i] = isGreat ? GREAT : gain;
      if (isGreat) this.#great.set(begin + i, gain);
    }
  }

  /** The gains of some slots together, and how many of them are known; no gains if none is. */
  sum(slots: Iterable<number>): { gains: number[]; known: number } {
    const gains = new Float64Array(DAYS);
    let known = 0;
    for (const slot of slots) {
      const begin = slot * DAYS;
      if (this.#numbers[begin] === UNKNOWN) continue;
      known++;
      for (let i = 0; i < DAYS; i++) {
        const gain = this.#numbers[begin + i] ?? 0;
        gains[i] = (gains[i] ?? 0) + (gain === GREAT ? (this.#great.get(begin + i) ?? 0) : gain);
      }
    }
    return { gains: known === 0 ? [] : [...gains], known };
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

/** Far more than there are. */
const MAX_TOPICS = 2 ** 31;

/** The topics of repositories, both ways. As with words, those of a load are packed, and those that changed since are in maps. */
export class Topics {
  readonly names = new Names();
  /** By slot: the codes of its topics. */
  readonly #of = new PackedLists();
  /** By code: the slots with that topic. */
  #with = new PackedLists();
  readonly #dead = new SlotSet(0);
  readonly #changed = new Map<number, readonly number[]>();
  readonly #added = new Map<number, Set<number>>();

  /** Whether no repository has had a topic since the load. */
  get isEmpty(): boolean {
    return this.names.names.length === 1;
  }

  /** Notes the topics of the next slot of a load. */
  append(topics: readonly string[]): void {
    for (const topic of topics) this.#of.push(this.names.add(topic, { most: MAX_TOPICS }));
    this.#of.endList();
  }

  /** Ends a load, in short steps. */
  *finish(): Generator<void> {
    this.#of.trim();
    this.#with = yield* this.#of.inverted(new Uint32Array(this.names.names.length).map((_, code) => code));
  }

  /** Notes the present topics of a repository. */
  replace(slot: number, topics: readonly string[]): void {
    for (const code of this.#changed.get(slot) ?? []) this.#added.get(code)?.delete(slot);
    const codes = topics.map((topic) => this.names.add(topic, { most: MAX_TOPICS }));
    for (const code of codes) {
      const slots = this.#added.get(code);
      if (slots === undefined) this.#added.set(code, new Set([slot]));
      else slots.add(slot);
    }
    if (slot >= this.#dead.bits.length * 32) this.#dead.grow(Math.max(slot + 1, this.#of.size) + 32 * 1_024);
    this.#dead.add(slot);
    this.#changed.set(slot, codes);
  }

  /** Adds the slots of repositories with a topic to a set. */
  addTo(set: SlotSet, topic: string): void {
    const code = this.names.codeOf(topic);
    if (code > 0) this.forEachWith(code, (slot) => set.add(slot));
  }

  /** Calls `visit` with the slot of each repository that has a topic. */
  forEachWith(code: number, visit: (slot: number) => void): void {
    const { starts, numbers } = this.#with;
    for (let i = starts[code] ?? 0, end = starts[code + 1] ?? 0; i < end; i++) {
      const slot = numbers[i] ?? 0;
      if (!this.#dead.has(slot)) visit(slot);
    }
    for (const slot of this.#added.get(code) ?? []) visit(slot);
  }

  /** The number of repositories with a topic; those that had it before a change count too. */
  sizeOf(code: number): number {
    const { starts } = this.#with;
    return (starts[code + 1] ?? 0) - (starts[code] ?? 0) + (this.#added.get(code)?.size ?? 0);
  }

  /** Calls `visit` with the code of each topic of a repository. */
  forEach(slot: number, visit: (code: number) => void): void {
    const changed = this.#changed.get(slot);
    if (changed !== undefined) {
      for (const code of changed) visit(code);
      return;
    }
    const { starts, numbers } = this.#of;
    for (let i = starts[slot] ?? 0, end = starts[slot + 1] ?? 0; i < end; i++) visit(numbers[i] ?? 0);
  }

  /** Adds 1 to the count of each topic of some slots. */
  count(counts: Uint32Array, slots: Uint32Array, length: number): void {
    const { starts, numbers } = this.#of;
    const hasChanges = this.#changed.size > 0;
    for (let i = 0; i < length; i++) {
      const slot = slots[i] ?? 0;
      if (hasChanges && this.#dead.has(slot)) {
        for (const code of this.#changed.get(slot) ?? []) counts[code] = (counts[code] ?? 0) + 1;
        continue;
      }
      for (let k = starts[slot] ?? 0, end = starts[slot + 1] ?? 0; k < end; k++) {
        const code = numbers[k] ?? 0;
        counts[code] = (counts[code] ?? 0) + 1;
      }
    }
  }
}

/** A repository as lists and search need it; times in ms since 1970. */
export type CatalogueRow = ReturnType<typeof rowOf>;

/** Its trend in one window. */
export interface GrowthRow {
  window: Window;
  /** In the order of GROWTH_ORDERS. */
  values: readonly (number | null)[];
  isReliable: boolean;
  isAnomalous: boolean;
  /** Of the longest window: see `DayGains`. */
  days: string | null;
}

const FACTS = columns("repositories", "r", [
  "id",
  "provider",
  "owner",
  "name",
  "description",
  "topics",
  "language",
  "license",
  "stars",
  "forks",
  "pushed_at",
  "created_at",
  "refreshed_at",
  "archived",
  "fork",
  "availability",
]);
const { at } = FACTS;
type RowValues = ValuesOf<typeof FACTS>;

const GROWTH = columns("rollups", "g", [
  "repository_id",
  "window_hours",
  "reliable",
  "anomalous",
  "days",
  ...GROWTH_ORDERS.map((order) => GROWTH_ORDER_COLUMNS[order].column),
]);
type GrowthValues = [
  id: number,
  hours: number,
  reliable: number,
  anomalous: number,
  days: string | null,
  ...values: (number | null)[],
];

/** The next repositories after an id, or those with these ids. */
type Wanted = { after: number; limit: number } | { ids: readonly number[] };

/** Reads rows by two statements, one after the other: the growth may be newer than the facts. */
export class RowSource {
  readonly #next: readonly [
    Prepared<{ after: number; limit: number }, RowValues>,
    Prepared<Between, GrowthValues>,
  ];
  readonly #some: readonly [
    Prepared<readonly number[], RowValues>,
    Prepared<readonly number[], GrowthValues>,
  ];

  constructor({ prepare, dialect }: Database) {
    const facts = (where: RawBuilder<unknown>) =>
      sql<RowValues>`select ${FACTS.sql} from repositories r where ${where}`;
    const growth = (where: RawBuilder<unknown>) =>
      sql<GrowthValues>`select ${GROWTH.sql} from rollups g where ${where}`;
    this.#next = [
      prepare((given) =>
        facts(sql`r.id > ${given(({ after }) => after)} order by r.id limit ${given(({ limit }) => limit)}`),
      ),
      prepare((given) =>
        growth(
          sql`g.repository_id > ${given(({ after }) => after)} and g.repository_id <= ${given(({ last }) => last)}`,
        ),
      ),
    ];
    this.#some = [
      prepare((given) =>
        facts(
          dialect.among(
            sql`r.id`,
            given((ids) => ids),
          ),
        ),
      ),
      prepare((given) =>
        growth(
          dialect.among(
            sql`g.repository_id`,
            given((ids) => ids),
          ),
        ),
      ),
    ];
  }

  /** In the order of their ids if they are the next ones. */
  async read(wanted: Wanted): Promise<CatalogueRow[]> {
    const isNext = "after" in wanted;
    const facts = isNext ? await this.#next[0](wanted) : await this.#some[0](wanted.ids);
    const growth = new Map<number, GrowthRow[]>();
    const rows = facts.map((values) => {
      const own: GrowthRow[] = [];
      growth.set(values[at.id], own);
      return rowOf(shownValues(FACTS, values), own);
    });
    const last = rows.at(-1)?.id;
    if (last === undefined) return rows;
    const values = isNext
      ? await this.#next[1]({ after: wanted.after, last })
      : await this.#some[1](wanted.ids);
    for (const [id, hours, reliable, anomalous, days, ...numbers] of values) {
      const window = windowOfHours(hours);
      if (window === undefined) continue;
      growth.get(id)?.push({
        window,
        values: numbers,
        isReliable: reliable === 1,
        isAnomalous: anomalous === 1,
        days,
      });
    }
    return rows;
  }
}

interface Between {
  after: number;
  last: number;
}

function rowOf(values: RowValues, growth: readonly GrowthRow[]) {
  const topics = values[at.topics];
  return {
    id: values[at.id],
    provider: values[at.provider],
    owner: values[at.owner],
    name: values[at.name],
    description: values[at.description],
    topics: topics === "[]" ? NO_TOPICS : (JSON.parse(topics) as readonly string[]),
    language: values[at.language],
    license: values[at.license],
    stars: values[at.stars],
    forks: values[at.forks],
    pushedAt: values[at.pushed_at],
    createdAt: values[at.created_at],
    refreshedAt: values[at.refreshed_at],
    isArchived: values[at.archived] === 1,
    isFork: values[at.fork] === 1,
    isListed: values[at.availability] === "AVAILABLE",
    growth,
  };
}

const NO_TOPICS: readonly string[] = [];
