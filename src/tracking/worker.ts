/** The worker: builds the loops that fill and refresh the catalogue, and writes reports about them. */

import type { AvatarSource, Call, Provider } from "../forges/forges.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { AvatarLane, avatarPause, noteWanted } from "./avatar-lane.js";
import { BackfillLane } from "./backfill-lane.js";
import { Stretch } from "./cadence.js";
import { DiscoveryLane } from "./discovery-lane.js";
import { type Lane, Reporter, type Step, type TrackingModules, WORKER, waiting } from "./lane.js";
import { ListLane } from "./list-lane.js";
import { Alarm, type Loop, Loops } from "./loop.js";
import { RecheckLane } from "./recheck.js";
import { RefreshLane } from "./refresh-lane.js";
import { RequestLane } from "./request-lane.js";
import { removeOldRequests } from "./requests/open-requests.js";
import { type Retention, thinSnapshots } from "./retention.js";
import { repairTimes } from "./schedule.js";
import { prepareStatus } from "./status.js";
import { untrackOthers } from "./untrack.js";

export interface WorkerOptions {
  modules: TrackingModules;
  providers: readonly Provider[];
  /** Where the avatars of each provider come from, by its name; absent: none are fetched. */
  avatars?: ReadonlyMap<string, AvatarSource>;
  clock: Clock;
  log: Logger;
  /** A random number from 0 to 1, for spreading due times; default Math.random. */
  chance?: () => number;
  /** Updates everything derived from the catalogue. */
  derive: () => Promise<void>;
  /** Pause between two calls of `derive`; default: as short as its cost allows. */
  deriveEveryMs?: number;
  /** How often the worker writes its report; default 10 s. */
  reportEveryMs?: number;
  /** How often the worker looks for repositories and histories that another process made due; default 1 min. */
  idleMs?: number;
  /** How often the worker looks for requests to track; default half a second. */
  requestsEveryMs?: number;
  retention?: Retention;
  /** Writes a dump if one is due; absent: there are no dumps. */
  dump?: (() => Promise<void>) | undefined;
}

/** Share of time spent deriving, unless a minute has passed; a small catalogue is visible within seconds. */
const DERIVE_SHARE = 0.05;
const DERIVE_MIN_MS = 5_000;
const DERIVE_MAX_MS = 60_000;
/** The same, at most, while people wait for the growth of repositories they requested; and the shortest pause then. */
const DERIVE_SOON_SHARE = 0.2;
const DERIVE_SOON_MS = 1_000;
const RETENTION_EVERY_MS = 3_600_000;
/** The same while the clock is in doubt: a forge may soon confirm it. */
const DOUBT_MS = 600_000;
const REPORT_EVERY_MS = 10_000;
/** Share of time spent preparing the status for pages: counting rows takes a second in large catalogues. */
const STATUS_SHARE = 0.02;
const DUMP_EVERY_MS = 3_600_000;

/** Logged where a forge reports too much. */
const EXCESSES = {
  held: "too many repositories are lost; the rest is held back",
  surplus: "lists show too many new repositories for a day; the rest is left out until a later one",
} as const;

/** Runs the loops of all providers. They are independent: a forge that is down delays no other. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #loops: readonly Loop[];
  readonly #runner: Loops;
  readonly reporters: ReadonlyMap<string, Reporter>;
  /** The excesses of each provider when they were last logged. */
  readonly #excesses = new Map<string, { total: number; day: number }>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { providers, clock, log, chance = Math.random } = options;
    const { signal } = this.#stopping;
    this.#runner = new Loops({ clock, log, chance, stopping: signal });
    const reporters = new Map<string, Reporter>();
    const derived = new Alarm(clock, signal);
    const lanes = providers.flatMap((provider) => {
      const reporter = new Reporter(clock.now());
      reporters.set(provider.name, reporter);
      const stretch = new Stretch();
      const { modules } = options;
      return this.#lanesOf({ modules, provider, clock, reporter, stretch, chance, signal }, derived);
    });
    this.reporters = reporters;
    this.#loops = [...lanes, this.#deriving(derived), ...this.#upkeep()];
  }

  /** Number of loops. */
  get loops(): number {
    return this.#loops.length;
  }

  /** Runs until `stop` is called. */
  async run(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => this.#runner.run(loop)));
    await this.#writeReports();
  }

  /**
   * Does what is due now, as far as each forge allows it without waiting for more than a minute, then updates everything derived.
   * A lane ends at its first failure.
   */
  async runOnce(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => this.#runner.drain(loop)));
    if (!this.#stopping.signal.aborted) await this.#options.derive();
    await this.#writeReports();
    await prepareStatus(this.#options.modules, this.#options.clock.now());
  }

  /** Ends all waits, as when a forge permits more than it did before. */
  wake(): void {
    this.#runner.wake();
  }

  /** Ends all loops soon; claimed work that is not done is released. */
  stop(): void {
    this.#stopping.abort();
  }

  /** The loops of a provider. `derived`: rings when something was recorded that people wait for. */
  #lanesOf(lane: Lane, derived: Alarm): Loop[] {
    const { providers, avatars, idleMs, requestsEveryMs } = this.#options;
    const { provider, reporter } = lane;
    const { name, kind, settings } = provider;
    const loopOf = (work: string, call: Call, one: { step(): Promise<Step> }): Loop => ({
      name: `${name} ${work}`,
      step: () => one.step(),
      lane: { provider, reporter, readyAt: () => provider.readyAt(call) },
    });
    const requests = { onRecorded: () => derived.ring(), idleMs: requestsEveryMs };
    const loops = [
      loopOf("refresh", "refresh", new RefreshLane(lane, idleMs)),
      loopOf("recheck", "recheck", new RecheckLane(lane)),
      loopOf("discover", "discover", new DiscoveryLane(lane)),
      loopOf("requests", "recheck", new RequestLane(lane, requests)),
      loopOf("lists", "recheck", new ListLane(lane, { providers, idleMs: requestsEveryMs })),
    ];
    const source = avatars?.get(name);
    if (source !== undefined) {
      const fetching = new AvatarLane({ ...lane, provider: name, source, pauseMs: avatarPause(settings) });
      // Not a lane for `runOnce` and for failures of the forge: avatars do not use its API.
      loops.push({ name: `${name} avatars`, step: () => fetching.step() });
    }
    // Only GitHub offers star histories.
    if (kind === "github") loops.push(loopOf("backfill", "history", new BackfillLane(lane, idleMs)));
    return loops;
  }

  #deriving(alarm: Alarm): Loop {
    const { clock, derive, deriveEveryMs } = this.#options;
    return {
      name: "derive",
      alarm,
      step: async () => {
        const began = clock.monotonic();
        await derive();
        const took = clock.monotonic() - began;
        alarm.leastMs = Math.max(DERIVE_SOON_MS, took / DERIVE_SOON_SHARE);
        const rest = Math.min(DERIVE_MAX_MS, Math.max(DERIVE_MIN_MS, took / DERIVE_SHARE));
        return waiting(deriveEveryMs ?? rest);
      },
    };
  }

  /** The loops that belong to no provider and derive nothing. */
  #upkeep(): Loop[] {
    const { modules, clock, avatars, dump, reportEveryMs = REPORT_EVERY_MS } = this.#options;
    /** `work` returns the time until it is repeated. */
    const loopOf = (name: string, work: () => Promise<number>): Loop => ({
      name,
      step: async () => waiting(await work()),
    });
    const loops = [
      loopOf("retention", () => this.#tidy()),
      loopOf("report", () => this.#writeReports().then(() => reportEveryMs)),
    ];
    if (avatars !== undefined) loops.push(loopOf("avatars", () => noteWanted(modules, [...avatars.keys()])));
    const status = async () => {
      // A new forge is known by its report.
      await this.#writeReports();
      const began = clock.monotonic();
      await prepareStatus(modules, clock.now());
      return Math.max(reportEveryMs, (clock.monotonic() - began) / STATUS_SHARE);
    };
    loops.push(loopOf("status", status));
    if (dump !== undefined) loops.push(loopOf("dump", () => dump().then(() => DUMP_EVERY_MS)));
    return loops;
  }

  /** Deletes and ends what is old. Returns the time until that is repeated. */
  async #tidy(): Promise<number> {
    const { modules, providers, clock, log, retention } = this.#options;
    const { database } = modules;
    const { signal } = this.#stopping;
    const configured = providers.map(({ name }) => name);
    for (const name of configured) await repairTimes(database, name, clock.now());
    const now = await modules.deletionClock.now();
    const untracked = await untrackOthers(database, { configured, now });
    if (untracked > 0) log.info({ repositories: untracked }, "no worker tracks their providers any more");
    await database.write
      .deleteFrom("worker_reports")
      .where("at", "<", now - DAY_MS)
      .execute();
    await removeOldRequests(database, now);
    const removed = await thinSnapshots({ database, now, signal }, retention);
    if (removed > 0) log.info({ snapshots: removed }, "thinned old snapshots");
    const evicted = await modules.avatars.evict(now);
    if (evicted > 0) log.info({ avatars: evicted }, "removed avatars that no list needs");
    return now === 0 ? DOUBT_MS : RETENTION_EVERY_MS;
  }

  /** Logs once a day that a forge reports too much. */
  #logExcess(provider: string, what: keyof typeof EXCESSES, total: number): void {
    const { clock, log } = this.#options;
    const day = Math.floor(clock.now() / DAY_MS);
    const key = `${provider} ${what}`;
    const last = this.#excesses.get(key);
    if (total === (last?.total ?? 0)) return;
    this.#excesses.set(key, { total, day });
    if (last?.day === day) return;
    log.warn({ provider, repositories: total - (last?.total ?? 0) }, EXCESSES[what]);
  }

  async #writeReports(): Promise<void> {
    const { modules, providers, clock } = this.#options;
    for (const provider of providers) {
      const report = this.reporters.get(provider.name)?.report;
      if (report === undefined) continue;
      const withheld = provider.withheld();
      const added = withheld.filter((field) => !report.withheld.includes(field));
      if (added.length > 0)
        this.#options.log.warn(
          { provider: provider.name, fields: added },
          "the forge withholds fields; the rest is recorded",
        );
      report.withheld = withheld;
      for (const what of ["held", "surplus"] as const) this.#logExcess(provider.name, what, report[what]);
      report.quota = provider.quota();
      report.site = provider.settings.url;
      const row = { worker: WORKER, provider: provider.name, at: clock.now(), body: JSON.stringify(report) };
      await modules.database.write
        .insertInto("worker_reports")
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(["worker", "provider"]).doUpdateSet({ at: row.at, body: row.body }),
        )
        .execute();
    }
  }
}
