import type { Random } from "../../../bench/synthetic/random.js";
import { DAY_MS, HOUR_MS } from "../../../src/lib/clock.js";
import type { Modules } from "../../../src/modules.js";
import type { Availability, Observation } from "../../../src/repositories/repositories.js";
import { observation, snapshotAt } from "../../support/world.js";

/** A repository as its forge has it; without an id, as an archive has it. */
interface Known {
  name: string;
  providerId?: string;
  stars: number;
}

const START = Date.UTC(2026, 3, 1);
const STEP_MS = HOUR_MS;

/** Changes a catalogue at random, in all ways in which it changes but by restores and repairs. */
export class RandomChanges {
  /** Changes made, by kind. */
  readonly counts = new Map<string, number>();
  readonly #random: Random;
  readonly #modules: Modules;
  readonly #known: Known[] = [];
  readonly #joined: string[] = [];
  #made = 0;
  #now = START;

  constructor(modules: Modules, random: Random) {
    this.#modules = modules;
    this.#random = random;
  }

  /** Makes one change, an hour after the one before. */
  async make(): Promise<void> {
    this.#now += STEP_MS;
    const kind = this.#known.length < LEAST ? "new" : this.#random.weighted(KINDS);
    if (await this.#change(kind)) this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    else await this.make();
  }

  async #change(kind: (typeof KINDS)[number][0]): Promise<boolean> {
    const random = this.#random;
    if (kind === "new") {
      const name = `o/r${this.#made++}`;
      const isOfForge = random.chance(0.5);
      const known = {
        name,
        stars: random.between(0, 9_000),
        ...(isOfForge && { providerId: name.slice(3) }),
      };
      this.#known.push(known);
      return this.#record(known);
    }
    if (kind === "growth") return (await this.#modules.rankings.update()) >= 0;
    const known = random.pick(this.#known);
    if (kind === "counts") {
      known.stars += random.between(-5, 60);
      return this.#record(known);
    }
    if (kind === "facts") return this.#record(known, { facts: { description: `Version ${this.#now}` } });
    if (kind === "availability") {
      const availability: Availability = random.pick(["GONE", "PRIVATE", "AVAILABLE", "AVAILABLE"]);
      return this.#record(known, { facts: { availability } });
    }
    if (kind === "late") {
      const late = snapshotAt(this.#now - random.between(1, 40) * DAY_MS, known.stars);
      return this.#record(known, { at: late.capturedAt, snapshots: [late] });
    }
    if (kind === "renamed") {
      if (known.providerId === undefined) return false;
      known.name = `o/r${this.#made++}`;
      return this.#record(known);
    }
    return kind === "deleted" ? this.#remove(known) : this.#join(known, kind);
  }

  async #record(known: Known, more: Partial<Observation> = {}): Promise<boolean> {
    const { name, providerId, stars } = known;
    const at = this.#now;
    const facts = { stars, ...more.facts };
    const own = observation(name, [snapshotAt(at, Math.max(0, stars))], {
      ...{ at, ...more, facts },
      ...(providerId !== undefined && { providerId }),
    });
    await this.#modules.catalog.record([own]);
    return true;
  }

  async #remove(known: Known): Promise<boolean> {
    const { catalog, database } = this.#modules;
    const found = await catalog.findByName("GITHUB", known.name);
    this.#known.splice(this.#known.indexOf(known), 1);
    if (found === undefined) return false;
    const { id } = found.repository;
    await database.dialect.exclusively(database.write, "catalogue", (tx) => catalog.removeIn(tx, id));
    return true;
  }

  /** Joins a repository to another one, or undoes that. */
  async #join(known: Known, kind: "joined" | "parted"): Promise<boolean> {
    const { catalog } = this.#modules;
    const provider = "GITHUB";
    try {
      if (kind === "joined") {
        await catalog.joinRenamed({ provider, from: known.name, to: this.#random.pick(this.#known).name });
        this.#joined.push(known.name);
        this.#known.splice(this.#known.indexOf(known), 1);
      } else await catalog.partRenamed({ provider, from: this.#random.pick(this.#joined) });
      return true;
    } catch {
      // It can be neither.
      return false;
    }
  }
}

const LEAST = 40;
const KINDS = [
  ["new", 12],
  ["counts", 40],
  ["facts", 8],
  ["late", 8],
  ["renamed", 6],
  ["joined", 6],
  ["parted", 2],
  ["availability", 8],
  ["deleted", 4],
  ["growth", 6],
] as const;
