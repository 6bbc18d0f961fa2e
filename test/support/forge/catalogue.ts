/**
 * The repositories behind a made-up forge. The same options give the same catalogue, and its state at any time is a closed
 * form of that time: nothing has to be played through, and time may run backwards. It is the truth that simulations hold
 * a tracker against.
 */
import { DAY_MS } from "../../../src/clock.js";
import { type CatalogueOptions, populate } from "./population.js";
import type { ScriptEvent } from "./script.js";
import {
  type Entry,
  type ForgeRepository,
  nameAt,
  recordAt,
  standingAt,
  starsKeptWith,
  starsWith,
} from "./state.js";

export type { CatalogueOptions } from "./population.js";
export type { ForgeRepository, Standing } from "./state.js";

export class ForgeCatalogue {
  readonly start: number;
  /** When the script ends. */
  readonly end: number;
  /** Grows when something is added by hand, so that what was derived from the catalogue can be derived anew. */
  version = 0;
  readonly #entries: Entry[];
  /** By full name in lower case: the places of all that have or had it. */
  readonly #byName = new Map<string, number[]>();
  readonly #overrides = new Map<number, Partial<ForgeRepository>>();

  constructor(options: CatalogueOptions) {
    const { start, days = 30 } = options;
    this.start = start;
    this.end = start + days * DAY_MS;
    this.#entries = populate({ topStars: 300_000, isNested: false, ...options, days });
    this.#entries.forEach(({ fullName, events }, place) => {
      for (const held of namesOf(fullName, events)) this.#claim(held, place);
    });
  }

  /** How many there are at any time, those to come included. */
  get size(): number {
    return this.#entries.length;
  }

  /** The forge's numbers, ascending; older repositories have smaller ones. */
  ids(): number[] {
    return this.#entries.map(({ id }) => id);
  }

  /** The place of a number among `ids()`, or of the next larger one. */
  place(id: number): number {
    const guess = Math.max(0, Math.min(this.#entries.length, Math.floor((id - 1_000) / 3)));
    const at = this.#entries[guess]?.id;
    return at !== undefined && at < id ? guess + 1 : guess;
  }

  /** The record at a place of `ids()`; undefined while it does not exist yet. */
  atPlace(place: number, at: number): ForgeRepository | undefined {
    const entry = this.#entries[place];
    if (entry === undefined || entry.growth.createdAt > at) return undefined;
    const changed = this.#overrides.get(entry.id);
    return changed === undefined ? recordAt(entry, at) : { ...recordAt(entry, at), ...changed };
  }

  /** The record of that number, whatever its standing; undefined where there is none, or not yet. */
  get(id: number, at: number): ForgeRepository | undefined {
    const place = this.place(id);
    return this.#entries[place]?.id === id ? this.atPlace(place, at) : undefined;
  }

  /** By full name in any case: who has it, else who had it last and has another one now (`isMoved`). */
  find(fullName: string, at: number): { repository: ForgeRepository; isMoved: boolean } | undefined {
    const wanted = fullName.toLowerCase();
    let moved: ForgeRepository | undefined;
    for (const place of this.#byName.get(wanted) ?? []) {
      const repository = this.atPlace(place, at);
      if (repository === undefined) continue;
      if (repository.fullName.toLowerCase() === wanted) {
        if (repository.standing !== "deleted") return { repository, isMoved: false };
      } else if (
        this.#entries[place]?.events.some((event) => event.at <= at && event.from?.toLowerCase() === wanted)
      ) {
        moved = repository;
      }
    }
    return moved === undefined ? undefined : { repository: moved, isMoved: true };
  }

  /** Only what searches are made of, for all places at once; null where nothing is to be seen. */
  glance(place: number, at: number): { stars: number; createdAt: number; isFork: boolean } | null {
    const entry = this.#entries[place];
    if (entry === undefined || entry.growth.createdAt > at) return null;
    const changed = this.#overrides.get(entry.id);
    if ((changed?.standing ?? standingAt(entry, at)) !== "public") return null;
    return {
      stars: changed?.stars ?? starsWith(entry, at),
      createdAt: changed?.createdAt ?? entry.growth.createdAt,
      isFork: changed?.isFork ?? entry.isFork,
    };
  }

  /** Stars given on a day of UTC (days since 1970) and still held at `at`. The days of a repository sum up to its stars. */
  starsKept(id: number, day: number, at: number): number {
    const entry = this.#entries[this.place(id)];
    return entry === undefined || entry.id !== id ? 0 : starsKeptWith(entry, day, at);
  }

  /** Everything that is or was there at a moment, with its exact record, by ascending number. */
  *truth(at: number): Generator<ForgeRepository> {
    for (let place = 0; place < this.#entries.length; place++) {
      const repository = this.atPlace(place, at);
      if (repository !== undefined) yield repository;
    }
  }

  /** The script up to a moment, in order of time; all of it where absent. */
  events(until = Infinity): ScriptEvent[] {
    return this.#entries
      .flatMap(({ events }) => events.filter(({ at }) => at <= until))
      .sort((a, b) => a.at - b.at || a.id - b.id);
  }

  /** Lets something happen to a repository that is there. `from` is filled in for renames and transfers. */
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

  /** Says something else of a repository than the script does, at all times. Names are changed by `add`. */
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
