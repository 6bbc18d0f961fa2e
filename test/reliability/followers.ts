import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ResultRow } from "../../bench/support/results.js";
import { openStore } from "../../bench/support/stores.js";
import { Random } from "../../bench/synthetic/random.js";
import { repositoryView } from "../../src/api/views.js";
import type { Window } from "../../src/growth/growth.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Modules } from "../../src/modules.js";
import type { Availability, Observation } from "../../src/repositories/repositories.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { observation, snapshotAt } from "../support/world.js";
import { assertHappened, countMaker, type Harness, type HarnessContext } from "./support/harness.js";
import { MAIN, type Place, WrittenService } from "./support/written-service.js";

const CHANGES = { short: 200, long: 2_000 } as const;
const CHECKPOINTS = { short: 4, long: 10 } as const;
/** How long a follower may take to have what was written last. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
const SEED = Number(process.env.SEED ?? 1);

export const followers: Harness = {
  name: "followers",
  proves:
    "Copies that follow the log of changes are equal to the catalogue whenever they have read all of it, while it changes and the service is restarted and killed.",
  async run(context) {
    const dataDir = mkdtempSync(join(tmpdir(), "sidereal-followers-"));
    const server = await connectToServer();
    const url = await createTestDatabase(server.port);
    try {
      const sqlite = await followAll(context, { url: undefined, dataDir });
      const postgres = await followAll(context, { url, dataDir });
      return [...sqlite, ...postgres];
    } finally {
      await dropTestDatabase(url);
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

async function followAll({ scale, report }: HarnessContext, place: Place): Promise<ResultRow[]> {
  const engine = place.url === undefined ? "sqlite" : "postgres";
  const modules = await openStore(place);
  const changes = new RandomChanges(modules, new Random(SEED));
  const copies = [new Follower("24h", 100), new Follower("30d", 7)];
  const following = new AbortController();
  const start = () => WrittenService.start([MAIN, "serve"], place);
  let service = await start();
  const running = copies.map((copy) => copy.run(() => service.url, following.signal));
  const [each, checkpoints] = [CHANGES[scale] / CHECKPOINTS[scale], CHECKPOINTS[scale]];
  let wrong = 0;
  try {
    for (let checkpoint = 1; checkpoint <= checkpoints; checkpoint++) {
      // Between two checkpoints the service ends, and is back while changes continue; once it is killed.
      const isKilled = checkpoint === Math.ceil(checkpoints / 2);
      const again = setTimeout(0).then(async () => {
        await (isKilled ? service.kill() : service.stop());
        service = await start();
      });
      for (let i = 0; i < each; i++) await changes.make();
      await again;
      await modules.rankings.update();
      for (const copy of copies) wrong += await differences(modules, copy, report);
      report(
        `${engine}, checkpoint ${checkpoint}: ${copies[0]?.copy.size} repositories, ${wrong} differences`,
      );
    }
  } finally {
    following.abort();
    await Promise.all(running);
    await service.kill();
    await modules.database.close();
  }
  for (const [kind, count] of changes.counts) report(`${engine}: ${count} of the kind ${kind}`);
  assertHappened(changes.counts.size, "kinds of changes", 8);
  const sum = (of: (copy: Follower) => number) => copies.reduce((total, copy) => total + of(copy), 0);
  assertHappened(
    sum(({ failed }) => failed),
    "requests while the service was down",
  );
  const row = countMaker({ engine });
  const none = { atMost: 0 };
  return [
    row("changes", CHANGES[scale]),
    row("checkpoints of two followers", checkpoints),
    row("records that differ at a checkpoint", wrong, none),
    row(
      "times that a follower had to begin again",
      sum(({ expired }) => expired),
      none,
    ),
  ];
}

/** The number of records in which a copy differs from the catalogue, once it has read the whole log. */
async function differences(
  { catalog, lists }: Modules,
  copy: Follower,
  report: (line: string) => void,
): Promise<number> {
  const { value } = await catalog.revision();
  for (let waited = 0; copy.revision < value; waited += LOOK_MS) {
    if (waited > PATIENCE_MS) throw new Error(`a follower is at ${copy.revision} of ${value}`);
    await setTimeout(LOOK_MS);
  }
  const expected = await records({ catalog, lists }, copy.window);
  const ids = new Set([...expected.keys(), ...copy.copy.keys()]);
  const wrong = [...ids].filter((id) => !isDeepStrictEqual(copy.copy.get(id), expected.get(id)));
  for (const id of wrong.slice(0, 3))
    report(`${id}: ${JSON.stringify(copy.copy.get(id))} instead of ${JSON.stringify(expected.get(id))}`);
  return wrong.length;
}

/** All repositories but joined ones, as responses have them. */
async function records(
  { catalog, lists }: Pick<Modules, "catalog" | "lists">,
  window: Window,
): Promise<Map<string, object>> {
  const dumped = await catalog.dump(0, 100_000);
  const ids = dumped.map(({ repository }) => repository.id);
  const rows = await lists.rows(ids, window);
  return new Map(
    rows
      .filter(({ repository }) => repository.availability !== "RENAMED")
      .map((row) => [String(row.repository.id), JSON.parse(JSON.stringify(repositoryView(row)))]),
  );
}

interface Change {
  id: string;
  record: object | null;
}

/** A program that keeps a copy of the catalogue by the documented steps, and knows nothing else of the service. */
class Follower {
  /** By id. */
  readonly copy = new Map<string, object>();
  /** Times that it had to begin again. */
  expired = 0;
  /** Requests that failed, as while the service was down. */
  failed = 0;
  readonly window: Window;
  readonly #limit: number;
  #next = "start";

  constructor(window: Window, limit: number) {
    this.window = window;
    this.#limit = limit;
  }

  /** Follows changes until `signal` is aborted. `url`: where the service is now. */
  async run(url: () => string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted)
      try {
        if (!(await this.#step(url()))) await setTimeout(PAUSE_MS);
      } catch {
        this.failed++;
        await setTimeout(PAUSE_MS);
      }
  }

  /** The revision up to which it has read the log; -1: it still reads all repositories. */
  get revision(): number {
    return this.#next === "start" ? -1 : JSON.parse(Buffer.from(this.#next, "base64url").toString())[2];
  }

  /** Reads one part. Returns whether there may be more. */
  async #step(url: string): Promise<boolean> {
    const query = `since=${this.#next}&include=record&window=${this.window}&limit=${this.#limit}`;
    const response = await fetch(`${url}/api/changes?${query}`);
    if (response.status === 410) {
      this.expired++;
      this.copy.clear();
      this.#next = "start";
      return true;
    }
    if (response.status !== 200) throw new Error(`/api/changes: ${response.status}`);
    const { data, meta }: { data: Change[]; meta: { nextCursor: string; hasMore: boolean } } =
      await response.json();
    for (const { id, record } of data) {
      if (record === null) this.copy.delete(id);
      else this.copy.set(id, record);
    }
    this.#next = meta.nextCursor;
    return meta.hasMore;
  }
}

const PAUSE_MS = 50;

/** A repository as its forge has it; without an id, as an archive has it. */
interface Known {
  name: string;
  providerId?: string;
  stars: number;
}

const START = Date.UTC(2026, 3, 1);
const STEP_MS = HOUR_MS;

/** Changes a catalogue at random, in all ways in which it changes but by restores and repairs. */
class RandomChanges {
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
