/**
 * The repositories of a fake forge. The same options give the same catalogue, and its state is a pure function of time, so
 * time can even run backwards. It is the truth that simulations compare a tracker with.
 */
import { DAY_MS } from "../../../src/lib/clock.js";
import { factsOf, firstName } from "./facts.js";
import { chance, powerLaw } from "./numbers.js";
import { EVENT_RATES, type EventRates, type ScriptEvent, scriptOf } from "./script.js";
import {
  type Entry,
  type ForgeRepository,
  nameAt,
  recordAt,
  starsKeptWith,
  starsWith,
  visibilityAt,
} from "./state.js";

export type { ForgeRepository, Visibility } from "./state.js";

export class ForgeCatalogue {
  readonly start: number;
  /** When the script ends. */
  readonly end: number;
  /** Increases when a test adds events, so that derived data can be rebuilt. */
  version = 0;
  readonly #entries: Entry[];
  /** By full name in lower case: the indices of all that have or had it. */
  readonly #byName = new Map<string, number[]>();
  readonly #overrides = new Map<number, Partial<ForgeRepository>>();
  #lie: ((truth: ForgeRepository) => Partial<ForgeRepository> | undefined) | undefined;

  constructor(options: CatalogueOptions) {
    const { start, days = 30 } = options;
    this.start = start;
    this.end = start + days * DAY_MS;
    this.#entries = populate({ topStars: 300_000, isNested: false, ...options, days });
    this.#entries.forEach(({ fullName, events }, place) => {
      for (const held of namesOf(fullName, events)) this.#claim(held, place);
    });
  }

  /** Total number, including repositories created later. */
  get size(): number {
    return this.#entries.length;
  }

  /** Repository ids, ascending; older repositories have smaller ones. */
  ids(): number[] {
    return this.#entries.map(({ id }) => id);
  }

  /** The index of an id in `ids()`, or of the next larger one. */
  place(id: number): number {
    const guess = Math.max(0, Math.min(this.#entries.length, Math.floor((id - 1_000) / 3)));
    const at = this.#entries[guess]?.id;
    return at !== undefined && at < id ? guess + 1 : guess;
  }

  /** The record at an index of `ids()`; undefined before its creation. */
  atPlace(place: number, at: number): ForgeRepository | undefined {
    const entry = this.#entries[place];
    if (entry === undefined || entry.growth.createdAt > at) return undefined;
    const changed = this.#overrides.get(entry.id);
    const truth = changed === undefined ? recordAt(entry, at) : { ...recordAt(entry, at), ...changed };
    return this.#lie === undefined ? truth : { ...truth, ...this.#lie(truth) };
  }

  /** What `answer` returns if records are false in some fields meanwhile; it must be synchronous. */
  lying<T>(lie: (truth: ForgeRepository) => Partial<ForgeRepository> | undefined, answer: () => T): T {
    this.#lie = lie;
    try {
      return answer();
    } finally {
      this.#lie = undefined;
    }
  }

  /** The record with this id, whatever its visibility; undefined before its creation. */
  get(id: number, at: number): ForgeRepository | undefined {
    const place = this.place(id);
    return this.#entries[place]?.id === id ? this.atPlace(place, at) : undefined;
  }

  /** By full name in any case: its current holder, otherwise the last one, which has another name now (`isMoved`). */
  find(fullName: string, at: number): { repository: ForgeRepository; isMoved: boolean } | undefined {
    const wanted = fullName.toLowerCase();
    let moved: ForgeRepository | undefined;
    for (const place of this.#byName.get(wanted) ?? []) {
      const repository = this.atPlace(place, at);
      if (repository === undefined) continue;
      if (repository.fullName.toLowerCase() === wanted) {
        if (repository.visibility !== "deleted") return { repository, isMoved: false };
      } else if (
        this.#entries[place]?.events.some((event) => event.at <= at && event.from?.toLowerCase() === wanted)
      ) {
        moved = repository;
      }
    }
    return moved === undefined ? undefined : { repository: moved, isMoved: true };
  }

  /** The fields that searches need, for all indices; null where not public. */
  glance(place: number, at: number): { stars: number; createdAt: number; isFork: boolean } | null {
    const entry = this.#entries[place];
    if (entry === undefined || entry.growth.createdAt > at) return null;
    const changed = this.#overrides.get(entry.id);
    if ((changed?.visibility ?? visibilityAt(entry, at)) !== "public") return null;
    return {
      stars: changed?.stars ?? starsWith(entry, at),
      createdAt: changed?.createdAt ?? entry.growth.createdAt,
      isFork: changed?.isFork ?? entry.isFork,
    };
  }

  /** Stars given on a UTC day (days since 1970) and not withdrawn at `at`. The days of a repository add up to its stars. */
  starsKept(id: number, day: number, at: number): number {
    const entry = this.#entries[this.place(id)];
    return entry === undefined || entry.id !== id ? 0 : starsKeptWith(entry, day, at);
  }

  /** The public records of an owner, or of those below it in a nested group, most stars first. In a fake forge every owner has some. */
  ownedBy(owner: string, at: number): ForgeRepository[] {
    const wanted = owner.toLowerCase();
    const isOwned = (one: ForgeRepository) => `${one.owner.toLowerCase()}/`.startsWith(`${wanted}/`);
    return [...this.truth(at)]
      .filter((one) => one.visibility === "public" && isOwned(one))
      .sort((a, b) => b.stars - a.stars);
  }

  /** All records at a moment, including those no longer visible, by ascending id. */
  *truth(at: number): Generator<ForgeRepository> {
    for (let place = 0; place < this.#entries.length; place++) {
      const repository = this.atPlace(place, at);
      if (repository !== undefined) yield repository;
    }
  }

  /** The script up to a moment, in order of time; default: all of it. */
  events(until = Infinity): ScriptEvent[] {
    return this.#entries
      .flatMap(({ events }) => events.filter(({ at }) => at <= until))
      .sort((a, b) => a.at - b.at || a.id - b.id);
  }

  /** Adds an event to an existing repository. `from` is filled in for renames and transfers. */
  add(event: Omit<ScriptEvent, "from">): void {
    const place = this.place(event.id);
    const entry = this.#entries[place];
    if (entry === undefined || entry.id !== event.id) throw new Error(`there is no repository ${event.id}`);
    const isMove = event.kind === "renamed" || event.kind === "transferred";
    entry.events.push({ ...event, from: isMove ? nameAt(entry, event.at) : null });
    entry.events.sort((a, b) => a.at - b.at);
    if (isMove) this.#claim(String(event.to), place);
    this.version++;
  }

  /** Overrides fields of a repository, at all times. Use `add` to change names. */
  override(id: number, facts: Partial<Omit<ForgeRepository, "id" | "owner" | "name" | "fullName">>): void {
    this.#overrides.set(id, { ...this.#overrides.get(id), ...facts });
    this.version++;
  }

  #claim(fullName: string, place: number): void {
    const key = fullName.toLowerCase();
    const places = this.#byName.get(key);
    if (places === undefined) this.#byName.set(key, [place]);
    else if (!places.includes(place)) places.push(place);
  }
}

function namesOf(fullName: string, events: readonly ScriptEvent[]): string[] {
  return [
    fullName,
    ...events.flatMap(({ from, to }) => (from === null || typeof to !== "string" ? [] : [to])),
  ];
}

export interface CatalogueOptions {
  seed: number;
  /** Number at `start`; the script creates more. */
  repositories: number;
  /** Start of the script, in ms since 1970; the repositories are older. */
  start: number;
  /** Length of the script; default 30. Counters continue to grow after it. */
  days?: number;
  /** Zero switches an event off; defaults in EVENT_RATES. */
  rates?: Partial<EventRates>;
  /** Stars of the most popular repository; default 300,000. */
  topStars?: number;
  /** Owners may be nested groups, as on GitLab. */
  isNested?: boolean;
}

const PURPOSE = { age: 51, pace: 52, id: 53, birth: 54, reuse: 55 };
const OLDEST_MS = 12 * 365 * DAY_MS;

type Filled = Required<Omit<CatalogueOptions, "rates">> & Pick<CatalogueOptions, "rates">;

/** All repositories with their events, oldest first. */
function populate(options: Filled): Entry[] {
  const { seed, repositories, start, days, topStars } = options;
  const rates = { ...EVENT_RATES, ...options.rates };
  const entries: Entry[] = [];
  const rankStep = stepThrough(repositories);
  for (let index = 0; index < repositories; index++) {
    const age = OLDEST_MS * (1 - (index + chance(seed, index, PURPOSE.age)) / repositories);
    const rank = (index * rankStep + (seed >>> 0)) % repositories;
    const stars = Math.floor(topStars / (rank + 1) ** 0.9);
    const pace = (stars ** 0.8 / 400) * powerLaw(chance(seed, index, PURPOSE.pace), 0.1, 1.3);
    const createdAt = wholeSeconds(start - DAY_MS - age);
    entries.push(
      entry(options, { index, rates, createdAt, starsAtStart: stars, starsPerDay: Math.min(pace, 5_000) }),
    );
  }
  const freed = freedNames(entries);
  const births = Math.round(rates.created * repositories * days);
  for (let birth = 0; birth < births; birth++) {
    const index = repositories + birth;
    const part = (birth + chance(seed, index, PURPOSE.birth)) / births;
    const createdAt = wholeSeconds(start + part * days * DAY_MS) + 1_000;
    const pace = Math.min(2_000, powerLaw(chance(seed, index, PURPOSE.pace), 0.05, 0.8));
    // Another repository sometimes takes a name that became free.
    const isTaken = chance(seed, index, PURPOSE.reuse) < 0.2 && (freed[0]?.at ?? Infinity) < createdAt;
    const name = isTaken ? freed.shift()?.name : undefined;
    entries.push(entry(options, { index, rates, createdAt, starsAtStart: 0, starsPerDay: pace, name }));
  }
  return entries;
}

/** What is particular to one repository. */
interface Drawn {
  index: number;
  rates: EventRates;
  createdAt: number;
  starsAtStart: number;
  starsPerDay: number;
  /** Default: a name of its own. */
  name?: string | undefined;
}

function entry(
  { seed, start, days, isNested }: Filled,
  { index, rates, createdAt, starsAtStart, starsPerDay, name }: Drawn,
): Entry {
  const id = 1_000 + index * 3 + Math.floor(3 * chance(seed, index, PURPOSE.id));
  const first = firstName(seed, index, isNested);
  const fullName = name ?? `${first.owner}/${first.name}`;
  const from = Math.max(start, createdAt + 1_000);
  const left = Math.max(0, (start - from) / DAY_MS + days);
  const events = scriptOf({ seed, index, id, name: fullName, start: from, days: left, rates });
  if (createdAt >= start) events.unshift({ at: createdAt, kind: "created", id, from: null, to: fullName });
  const growth = { seed, index, createdAt, startDay: Math.floor(start / DAY_MS), starsAtStart, starsPerDay };
  return { id, fullName, growth, isFork: factsOf(seed, index).isFork, events };
}

/** Names that become free permanently, in order of time. */
function freedNames(entries: readonly Entry[]): { at: number; name: string }[] {
  return entries
    .flatMap((entry) =>
      entry.events
        .filter((event) => isFreeing(event, entry.events))
        .map(({ at, from }) => ({ at, name: from ?? nameAt(entry, at) })),
    )
    .sort((a, b) => a.at - b.at);
}

/** Renamed or deleted; restored repositories get their name back and are excluded. */
function isFreeing({ kind }: ScriptEvent, events: readonly ScriptEvent[]): boolean {
  if (kind === "renamed" || kind === "transferred") return true;
  return kind === "deleted" && !events.some((event) => event.kind === "restored");
}

const wholeSeconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;

/** A step that visits `count` indices without repetition, so that popularity does not follow age. */
function stepThrough(count: number): number {
  const divides = (a: number, b: number): boolean => (b === 0 ? a > 1 : divides(b, a % b));
  let step = Math.max(1, Math.floor(count * 0.618));
  while (divides(step, Math.max(1, count))) step++;
  return step;
}
