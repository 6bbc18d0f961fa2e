/**
 * The catalogue in memory, which lists, search, facets and ranks are found with. A repository has a slot, which never moves. It is
 * loaded once and then follows changes. An evaluation is synchronous, so it sees one state. Values that depend on all repositories are
 * derived in short steps, between which the event loop serves others.
 */
import { GROWTH_ORDER_COLUMNS, type GrowthOrder, type Window } from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import { ownTurn } from "../lib/loop-turns.js";
import { fullNameKey } from "../repositories/repositories.js";
import { type CatalogueRow, Columns, NO_GAIN, type PlainColumn, Topics } from "./columns.js";
import { type Order, SlotSet, sortSlots } from "./slots.js";
import { WordCollector, type WordIndex } from "./words.js";

export type OrderName =
  | { column: PlainColumn }
  | { growth: GrowthOrder; window: Window }
  /** By trending score, then by stars. */
  | { trendingFirst: Window };

/** Topics of a repository that are indexed; further ones are left out. */
const MAX_TOPICS = 50;

/** From this many repositories on, deriving values takes long: orders are kept sorted, and readers do not wait for changes. */
export const LARGE_FROM = 20_000;

export class ReadModel implements Versioned {
  readonly columns: Columns;
  readonly topics: Topics;
  readonly words: WordIndex;
  readonly #evaluation = new Evaluation(this);
  /** Slots from the load, in the order of their ids; the others are in `#added`. */
  readonly #loaded: number;
  readonly #added = new Map<number, number>();
  readonly #sorted = new Map<string, Derived<Uint32Array>>();
  readonly #members = new Map<string, { version: number; set: SlotSet }>();
  readonly #trending = new Map<Window, { version: number; numbers: Uint32Array }>();
  readonly #steps: Steps;
  /** Grows with every change. */
  version = 0;
  replaced = 0;
  /** How many words and topics the load has left out. */
  readonly leftOut: LeftOut;
  #starRanks: { version: number; above: Uint32Array; most: readonly number[] } | undefined;

  private constructor(loaded: Loaded, steps: Steps) {
    this.columns = loaded.columns;
    this.topics = loaded.topics;
    this.words = loaded.words;
    this.leftOut = loaded.leftOut;
    this.#loaded = loaded.columns.size;
    this.#steps = steps;
  }

  /** Loads repositories, which come in the order of their ids. */
  static async load(batches: AsyncIterable<readonly CatalogueRow[]>, steps: Steps): Promise<ReadModel> {
    const [columns, topics, words] = [new Columns(), new Topics(), new WordCollector()];
    let topicsLeftOut = 0;
    for await (const rows of batches) {
      for (const whole of rows) {
        const row = indexed(whole);
        topicsLeftOut += whole.topics.length - row.topics.length;
        const slot = columns.append(row.id);
        setRow(columns, slot, row);
        topics.append(row.topics);
        words.add(row);
      }
      await steps.pause();
    }
    await steps.run(topics.finish());
    const index = await steps.run(words.finish(columns.capacity));
    const leftOut = { words: words.leftOut, topics: topicsLeftOut };
    return new ReadModel({ columns, topics, words: index, leftOut }, steps);
  }

  /** The slot of a repository; -1 for an unknown one. */
  slotOf(id: number): number {
    const ids = this.columns.id;
    let [low, high] = [0, this.#loaded];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.#loaded && ids[low] === id ? low : (this.#added.get(id) ?? -1);
  }

  /** Takes over repositories as they are now; `ids` without a row no longer exist. */
  apply(ids: readonly number[], rows: readonly CatalogueRow[]): void {
    const { columns } = this;
    const gone = new Set(ids);
    for (const row of rows.map(indexed)) {
      gone.delete(row.id);
      let slot = this.slotOf(row.id);
      const isNew = slot < 0;
      if (isNew) {
        slot = columns.append(row.id);
        this.#added.set(row.id, slot);
      }
      const texts = columns.textHash[slot];
      setRow(columns, slot, row);
      if (!isNew && texts === columns.textHash[slot]) continue;
      this.words.replace(slot, row);
      this.topics.replace(slot, row.topics);
    }
    for (const id of gone) {
      const slot = this.slotOf(id);
      if (slot >= 0) columns.listed.put(slot, false);
    }
    this.version++;
  }

  /** Leaves out repositories that are not among these. */
  keep(ids: ReadonlySet<number>): void {
    const { id, size, listed } = this.columns;
    for (let slot = 0; slot < size; slot++) if (!ids.has(id[slot] ?? 0)) listed.put(slot, false);
    this.version++;
  }

  /**
   * Does some work with sets that end with it. Work that returns a promise does not compile, as the catalogue may change while it
   * waits. Throws within another evaluation, as they would share their sets.
   */
  evaluate<T>(
    work: (evaluation: Evaluation) => T,
    ..._isSynchronous: T extends PromiseLike<unknown> ? [never] : []
  ): T {
    return this.#evaluation.run(work);
  }

  order(name: OrderName): Order {
    const { plain, growth, id } = this.columns;
    if ("column" in name) return { numbers: plain[name.column], id, least: 0, unknown: 0 };
    if ("trendingFirst" in name)
      return { numbers: this.#trendingFirst(name.trendingFirst), id, least: 0, unknown: 0 };
    const least = GROWTH_ORDER_COLUMNS[name.growth].positiveOnly ? 1 : NO_GAIN + 1;
    return { numbers: growth[name.window][name.growth], id, least };
  }

  /** Numbers by which those of the trending list of a window are above all others, which are by stars. */
  #trendingFirst(window: Window): Uint32Array {
    const known = this.#trending.get(window);
    if (known?.version === this.version) return known.numbers;
    const { plain, growth, archived, fork, size, capacity } = this.columns;
    const [scores, { stars }] = [growth[window].trending, plain];
    const numbers = new Uint32Array(capacity);
    for (let slot = 0; slot < size; slot++) {
      // As in the list of the ranking.
      const score = archived.has(slot) || fork.has(slot) ? 0 : (scores[slot] ?? 0);
      numbers[slot] = score > 0 ? ABOVE_STARS + score : Math.min(stars[slot] ?? 0, ABOVE_STARS);
    }
    this.#trending.set(window, { version: this.version, numbers });
    return numbers;
  }

  /** The slots that an order holds. */
  members(name: OrderName): SlotSet {
    const key = keyOf(name);
    let members = this.#members.get(key);
    if (members?.version !== this.version) {
      const { numbers, least } = this.order(name);
      const set = new SlotSet(this.columns.capacity);
      for (let slot = 0; slot < this.columns.size; slot++) if ((numbers[slot] ?? 0) >= least) set.add(slot);
      members = { version: this.version, set };
      this.#members.set(key, members);
    }
    return members.set;
  }

  /** The slots of an order, sorted; undefined if they are few, or not sorted yet: then sorting them begins. */
  sorted(name: OrderName): Uint32Array | undefined {
    return this.isLarge ? this.#sortedOf(name).peek() : undefined;
  }

  /** Sorts the slots of an order, in short steps, unless that has been done. */
  *sortSteps(name: OrderName): Generator<void, Uint32Array> {
    return (
      (this.isLarge ? this.#sortedOf(name).known : undefined) ??
      (yield* sortSlots(this.order(name), this.columns.size))
    );
  }

  #sortedOf(name: OrderName): Derived<Uint32Array> {
    const key = keyOf(name);
    let sorted = this.#sorted.get(key);
    if (sorted === undefined) {
      sorted = this.derive(() => sortSlots(this.order(name), this.columns.size));
      this.#sorted.set(key, sorted);
    }
    return sorted;
  }

  /** A value that is computed from the model in short steps, again whenever that has changed. */
  derive<T>(compute: () => Generator<void, T>): Derived<T> {
    return new Derived(this, this.#steps, compute);
  }

  /** The same, but of a large model only once. */
  deriveOnce<T>(compute: () => Generator<void, T>): Derived<T> {
    const versionNow = () => (this.isLarge ? 0 : this.version);
    const source: Versioned = {
      get version() {
        return versionNow();
      },
      isLarge: false,
      replaced: 0,
    };
    return new Derived(source, this.#steps, compute);
  }

  get isLarge(): boolean {
    return this.columns.size >= LARGE_FROM;
  }

  /** How many listed repositories have more stars. */
  starRank(stars: number): number {
    let ranks = this.#starRanks;
    if (ranks?.version !== this.version) {
      ranks = { version: this.version, ...this.#rankStars() };
      this.#starRanks = ranks;
    }
    if (stars < STAR_COUNTS - 1) return ranks.above[stars] ?? 0;
    const fewer = ranks.most.findIndex((own) => own <= stars);
    return fewer < 0 ? ranks.most.length : fewer;
  }

  /** For each number of stars how many have more, and the greatest numbers of stars in order. */
  #rankStars(): { above: Uint32Array; most: readonly number[] } {
    const { plain, listed } = this.columns;
    const counts = new Uint32Array(STAR_COUNTS);
    const most: number[] = [];
    listed.forBlocks((slots, length) => {
      for (let i = 0; i < length; i++) {
        const stars = plain.stars[slots[i] ?? 0] ?? 0;
        const at = Math.min(stars, STAR_COUNTS - 1);
        counts[at] = (counts[at] ?? 0) + 1;
        if (stars >= STAR_COUNTS - 1) most.push(stars);
      }
    });
    const above = new Uint32Array(STAR_COUNTS);
    for (let i = STAR_COUNTS - 2; i >= 0; i--) above[i] = (above[i + 1] ?? 0) + (counts[i + 1] ?? 0);
    return { above, most: most.sort((a, b) => b - a) };
  }
}

/** One evaluation of a model at a time. Its sets are used again by the next one, as a set of a million slots takes 125 kB. */
export class Evaluation {
  readonly model: ReadModel;
  readonly #sets: SlotSet[] = [];
  /** How many of the sets are in use; undefined: no evaluation runs. */
  #taken: number | undefined;

  constructor(model: ReadModel) {
    this.model = model;
  }

  run<T>(work: (evaluation: Evaluation) => T): T {
    if (this.#taken !== undefined) throw new Error("an evaluation began within another one");
    this.#taken = 0;
    try {
      return work(this);
    } finally {
      this.#taken = undefined;
    }
  }

  /** An empty set, until the evaluation ends. */
  set(): SlotSet {
    if (this.#taken === undefined) throw new Error("no evaluation runs");
    const { capacity } = this.model.columns;
    const at = this.#taken++;
    const known = this.#sets[at];
    if (known !== undefined && known.bits.length === (capacity + 31) >>> 5) return known.clear();
    const set = new SlotSet(capacity);
    this.#sets[at] = set;
    return set;
  }
}

const keyOf = (name: OrderName): string => Object.values(name).join(" ");

/** More stars than any repository has. */
const ABOVE_STARS = 2 ** 31;

interface Loaded {
  columns: Columns;
  topics: Topics;
  words: WordIndex;
  leftOut: LeftOut;
}

interface LeftOut {
  words: number;
  topics: number;
}

/** A repository with the topics that are indexed. */
const indexed = (row: CatalogueRow): CatalogueRow =>
  row.topics.length > MAX_TOPICS ? { ...row, topics: row.topics.slice(0, MAX_TOPICS) } : row;

/** Numbers of stars whose ranks are in a table; few repositories have more. */
const STAR_COUNTS = 65_536;

function setRow(columns: Columns, slot: number, row: CatalogueRow): void {
  const { owner, name, description, topics, language } = row;
  columns.setFacts(slot, row);
  columns.setGrowth(slot, row.growth);
  const fullName = `${owner}/${name}`;
  columns.nameHash[slot] = hashOf(fullNameKey(fullName));
  columns.textHash[slot] = hashOf(`${fullName}\n${description}\n${topics.join()}\n${language}`);
}

/** FNV-1a of the units of a text, in 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Time of work after which others get a turn. */
const TURN_MS = 5;

/** Long computations in short steps, between which the event loop serves others. */
export class Steps {
  readonly #clock: Pick<Clock, "monotonic">;
  #began: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  get now(): number {
    return this.#clock.monotonic();
  }

  /** Lets others have a turn if it has been some time. */
  async pause(): Promise<void> {
    if (this.now - this.#began < TURN_MS) return;
    await ownTurn();
    this.#began = this.now;
  }

  /** Does some work when all earlier work has ended, so that derived values see none of its changes. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.pause();
    }
  }
}

/** An earlier value is used for this many times as long as computing one took, so that changes do not keep a core busy. */
const REST = 9;

/** The state that derived values depend on. */
export interface Versioned {
  version: number;
  /** Whether deriving a value takes so long that an earlier one is used meanwhile. */
  readonly isLarge: boolean;
  /** How many values have replaced an earlier one that was used while they were computed. */
  replaced: number;
}

/** A value that depends on something with a version, computed again when it is wanted and the version has grown. */
export class Derived<T> {
  readonly #source: Versioned;
  readonly #steps: Steps;
  readonly #compute: () => Generator<void, T>;
  #known: { value: T; version: number } | undefined;
  #work: Promise<T> | undefined;
  #isEarlierUsed = false;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(source: Versioned, steps: Steps, compute: () => Generator<void, T>) {
    this.#source = source;
    this.#steps = steps;
    this.#compute = compute;
  }

  /** The value of the present version, if it is known. */
  get known(): T | undefined {
    return this.#known?.version === this.#source.version ? this.#known.value : undefined;
  }

  /** The value of the present version. */
  exact(): T | Promise<T> {
    if (this.known !== undefined) return this.known;
    this.#work ??= this.#renew().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  /** The value of the present version if it is known; otherwise it is computed for a later caller, though not all the time. */
  peek(): T | undefined {
    if (this.known !== undefined) return this.known;
    // Callers that wait for the value get the error.
    if (this.#steps.now >= this.#restsUntil) Promise.resolve(this.exact()).catch(() => {});
    return undefined;
  }

  /** The value of the present version, or an earlier one while that takes long. */
  get(): T | Promise<T> {
    const known = this.#known;
    if (known === undefined || !this.#source.isLarge) return this.exact();
    const present = this.peek();
    if (present === undefined) this.#isEarlierUsed = true;
    return present ?? known.value;
  }

  #renew(): Promise<T> {
    return this.#steps.inTurn(async () => {
      const [{ version }, began] = [this.#source, this.#steps.now];
      const value = await this.#steps.run(this.#compute());
      this.#known = { value, version };
      this.#restsUntil = this.#steps.now + REST * (this.#steps.now - began);
      if (this.#isEarlierUsed) this.#source.replaced++;
      this.#isEarlierUsed = false;
      return value;
    });
  }
}
