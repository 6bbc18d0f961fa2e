/** A day in the life of a catalogue that is tracked: the same day for every process that tracks it, however often one is killed. */

import { type Database, openDatabase } from "../../../src/database/database.js";
import { createGithub } from "../../../src/forges/github/github.js";
import { createTransport } from "../../../src/forges/transport.js";
import { DAY_MS, HOUR_MS } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules, followChanges, updateDerived } from "../../../src/modules.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import type { Observation } from "../../../src/repositories/repository.js";
import { WorkerLease } from "../../../src/tracking/lease.js";
import { Worker } from "../../../src/tracking/worker.js";
import { ManualClock } from "../../support/manual-clock.js";
import { onClock } from "../../support/tracking.js";
import { counting } from "./open-store.js";

/** When the first round begins. */
export const FIRST_ROUND = Date.UTC(2026, 2, 1);
/** How long a round is; the rest of its day passes without a worker. */
export const ROUND_MS = 20 * HOUR_MS;
const IDLE_MS = HOUR_MS / 6;
const DERIVE_EVERY_MS = 2 * HOUR_MS;

/** What a process does: tracks a forge from a time of a round to its end. */
export interface Round {
  /** SQLite in a folder, or PostgreSQL. */
  place: { url: string | undefined; dataDir: string };
  forgeUrl: string;
  /** Days since the first round. */
  day: number;
  /** How much of the round has passed before, in ms. */
  passedMs: number;
  /** The statement before which the process kills itself; null: none. */
  fatal: number | null;
}

export const startOfRound = (day: number): number => FIRST_ROUND + day * DAY_MS;

/** Tracks to the end of the round. Returns the number of statements. */
export async function track({ place, forgeUrl, day, passedMs, fatal }: Round): Promise<number> {
  const at = startOfRound(day);
  const clock = new ManualClock(at + passedMs);
  const log = createLog("silent");
  const opened = await openDatabase({ ...place, pool: 4, log });
  let statements = 0;
  const database = counted(opened, () => {
    if (++statements === fatal) process.kill(process.pid, "SIGKILL");
  });
  const built = buildModules(database, { clock, log });
  const modules = { ...built, catalog: new DailyCatalog(database, clock, at) };
  const { fetch, close } = createTransport({
    origins: [forgeUrl],
    mayBePrivate: true,
    userAgent: "sidereal-test",
    proxy: undefined,
  });
  const settings = { name: "GITHUB", kind: "github" as const, url: forgeUrl, tokens: ["token"] };
  const provider = createGithub(
    { ...settings, requestsPerHour: null, minStars: 0, mayBePrivate: true },
    { fetch, clock },
  );
  // The one that was killed before holds the lease for some seconds.
  const lease = new WorkerLease(onClock(database, clock), { clock, log });
  while (!(await lease.take())) clock.advance(1_000);
  const stopping = new AbortController();
  const worker = new Worker({
    modules,
    lease,
    signal: stopping.signal,
    providers: [provider],
    clock,
    log,
    chance: () => 0.5,
    derive: () => followChanges(modules),
    deriveEveryMs: DERIVE_EVERY_MS,
    idleMs: IDLE_MS,
    reportEveryMs: HOUR_MS,
    requestsEveryMs: HOUR_MS,
  });
  const running = worker.run();
  const end = at + ROUND_MS;
  while (clock.now() < end) {
    await clock.whenSleeping(() => worker.loops);
    clock.advance(Math.max(1, Math.min(clock.untilNextWake ?? 0, end - clock.now())));
  }
  await clock.whenSleeping(() => worker.loops);
  stopping.abort();
  await running;
  // As once a day: between two rebuilds, scores are measured by the scale of the last one.
  await updateDerived(modules);
  await close();
  await opened.close();
  return statements;
}

/**
 * Records everything that is read in a round as read when it began, so that the hour of a retry does not show, and without watchers,
 * which only a repository's own record has: a retry may find it in a list first.
 */
class DailyCatalog extends Catalog {
  readonly #at: number;

  constructor(database: Database, clock: ManualClock, at: number) {
    super(database, clock);
    this.#at = at;
  }

  override recordIn(tx: Parameters<Catalog["recordIn"]>[0], batch: readonly Observation[]) {
    return super.recordIn(
      tx,
      batch.map((one) => this.#dated(one)),
    );
  }

  #dated(observation: Observation): Observation {
    const isLater = (time: number | null | undefined) => typeof time === "number" && time > this.#at;
    const { at, facts, snapshots } = observation;
    return {
      ...observation,
      at: isLater(at) ? this.#at : at,
      facts: { ...facts, ...("watchers" in facts && { watchers: null }) },
      snapshots: [...snapshots].map((snapshot) => ({
        ...snapshot,
        watchers: null,
        capturedAt: isLater(snapshot.capturedAt) ? this.#at : snapshot.capturedAt,
      })),
    };
  }
}

/** The same database, which calls `before` ahead of each statement. */
function counted(database: Database, before: () => void): Database {
  const plugin = counting(before);
  return {
    ...database,
    read: database.read.withPlugin(plugin),
    write: database.write.withPlugin(plugin),
    durable: database.durable.withPlugin(plugin),
    prepare: (build) => {
      const run = database.prepare(build);
      return (values) => {
        before();
        return run(values);
      };
    },
  };
}
