/**
 * The repositories of a fake forge. The same options give the same catalogue, and its state is a pure function of time, so
 * time can even run backwards. It is the truth that simulations compare a tracker with.
 */
import { DAY_MS } from "../../../src/lib/clock.js";
import { type CatalogueOptions, populate } from "./population.js";
import type { ScriptEvent } from "./script.js";
import {
  type Entry,
  type ForgeRepository,
  nameAt,
  recordAt,
  starsKeptWith,
  starsWith,
  visibilityAt,
} from "./state.js";

export type { CatalogueOptions } from "./population.js";
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
