/** The worker: builds the loops that fill and refresh the catalogue, and writes reports about them. */

import type { AvatarSource, Call, Provider } from "../forges/forges.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { avatarStep, noteWanted } from "./avatar-lane.js";
import { Stretch } from "./cadence.js";
import { discoveryStep } from "./discovery-lane.js";
import type { Lane, Step, TrackingModules } from "./lane.js";
import type { WorkerLease } from "./lease.js";
import { Loop, type LoopOptions } from "./loop.js";
import { recheckStep } from "./recheck.js";
import { RefreshLane } from "./refresh-lane.js";
import { Reporter, saveReport } from "./report.js";
import { RequestLane } from "./request-lane.js";
import { removeOldRequests } from "./requests/wanted.js";
import { thinSnapshots } from "./retention.js";
import { repairTimes } from "./schedule.js";
import { backfillStep } from "./star-history.js";
import { prepareStatus, readReports } from "./status.js";
import { untrackOthers } from "./untrack.js";

interface WorkerOptions {
  modules: TrackingModules;
  /** Must be held. */
  lease: WorkerLease;
  signal: AbortSignal;
  providers: readonly Provider[];
  /** The source of each provider's avatars, by its name; absent: none are fetched. */
  avatars?: ReadonlyMap<string, AvatarSource>;
  clock: Clock;
  log: Logger;
  /** A random number from 0 to 1, for spreading due times; default Math.random. */
  chance?: () => number;
  derive: () => Promise<void>;
  /** Pause between two calls of `derive`; default: as short as its cost allows. */
  deriveEveryMs?: number;
  reportEveryMs?: number;
  /** How often the worker looks for repositories and histories that another process made due; default 5 s. */
  idleMs?: number;
  requestsEveryMs?: number;
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

const EXCESSES = {
  held: "too many repositories are lost; the others are held back",
  surplus: "lists show too many new repositories for a day; the others are left out until a later one",
} as const;

/** Runs the loops of all providers. They are independent: a forge that is down delays no other. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #loops: Loop[] = [];
  readonly reporters: ReadonlyMap<string, Reporter>;
  readonly #excesses = new Map<string, { total: number; day: number }>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { providers, clock } = options;
    this.reporters = new Map(providers.map(({ name }) => [name, new Reporter(clock.now())]));
    const deriving = this.#add({ name: "derive", step: () => this.#derive() });
    const reporting = this.#addUpkeep();
    for (const provider of providers)
      this.#addLanes(provider, { onRecorded: () => deriving.wake(), onPaused: () => reporting.wake() });
  }

  get loops(): number {
    return this.#loops.length;
  }

  async run(): Promise<void> {
    await this.#resume();
    await Promise.all(this.#loops.map((loop) => loop.run()));
    await this.#writeReports().catch(() => {});
  }

  /** Does work that is due and needs no wait of over a minute, then derives. A lane ends at its first failure. */
  async runOnce(): Promise<void> {
    const { modules, clock, signal, derive } = this.#options;
    await this.#resume();
    await Promise.all(this.#loops.map((loop) => loop.drain()));
    if (!signal.aborted) await derive();
    await this.#writeReports();
    await prepareStatus(modules, clock.now());
  }

  /** Ends all waits, as when a forge permits more than it did before. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Without the database, the loops wait for it. */
  async #resume(): Promise<void> {
    const { modules, providers } = this.#options;
    const last = await readReports(modules.database.read).catch(() => undefined);
    for (const { name, settings } of providers) {
      const report = last?.get(name)?.report;
      if (report?.site === settings.url) this.reporters.get(name)?.resume(report);
    }
  }

  #add(loop: Pick<LoopOptions, "name" | "step" | "lane">): Loop {
    const { clock, log, chance = Math.random, signal } = this.#options;
    const added = new Loop({ ...loop, clock, log, chance, signal, onToken: () => this.wake() });
    this.#loops.push(added);
    return added;
  }

  /** Wakes other loops: see RequestLane. */
  #addLanes(provider: Provider, wakes: { onRecorded: () => void; onPaused: () => void }): void {
    const { modules, lease, clock, log, signal, chance = Math.random } = this.#options;
    const { providers, avatars, idleMs, requestsEveryMs } = this.#options;
    const { name, kind } = provider;
    const reporter = this.reporters.get(name) ?? new Reporter(clock.now());
    const own = { stretch: new Stretch(), failedHistories: new Set<string>() };
    const lane: Lane = { modules, lease, provider, clock, log, reporter, ...own, chance, signal };
    const add = (work: string, call: Call, step: () => Promise<Step>) =>
      this.#add({
        name: `${name} ${work}`,
        step,
        lane: { provider, reporter, readyAt: () => provider.readyAt(call) },
      });
    const refresh = new RefreshLane(lane, idleMs);
    const requests = new RequestLane(lane, { providers, ...wakes, idleMs: requestsEveryMs });
    add("refresh", "refresh", () => refresh.step());
    add("recheck", "recheck", () => recheckStep(lane));
    if (provider.settings.onDemand !== true) add("discover", "discover", () => discoveryStep(lane));
    add("requests", "recheck", () => requests.step());
    // Only GitHub offers star histories.
    if (kind === "github") add("backfill", "history", () => backfillStep(lane, idleMs));
    const source = avatars?.get(name);
    // Not a lane for `runOnce` and for failures of the forge: avatars do not use its API.
    if (source !== undefined) this.#add({ name: `${name} avatars`, step: () => avatarStep(lane, source) });
  }

  async #derive(): Promise<Step> {
    const { clock, derive, deriveEveryMs } = this.#options;
    const began = clock.monotonic();
    await derive();
    const took = clock.monotonic() - began;
    const rest = Math.min(DERIVE_MAX_MS, Math.max(DERIVE_MIN_MS, took / DERIVE_SHARE));
    return { waitMs: deriveEveryMs ?? rest, leastMs: Math.max(DERIVE_SOON_MS, took / DERIVE_SOON_SHARE) };
  }

  /** Returns the loop that writes reports. */
  #addUpkeep(): Loop {
    const { modules, clock, avatars, dump, reportEveryMs = REPORT_EVERY_MS } = this.#options;
    /** `work` returns the time until it is repeated. */
    const add = (name: string, work: () => Promise<number>) =>
      this.#add({ name, step: async () => ({ waitMs: await work() }) });
    add("retention", () => this.#tidy());
    const reporting = add("report", () => this.#writeReports().then(() => reportEveryMs));
    add("status", async () => {
      // A new forge is known by its report.
      await this.#writeReports();
      const began = clock.monotonic();
      await prepareStatus(modules, clock.now());
      return Math.max(reportEveryMs, (clock.monotonic() - began) / STATUS_SHARE);
    });
    if (avatars !== undefined) add("avatars", () => noteWanted(modules, [...avatars.keys()]));
    if (dump !== undefined) add("dump", () => dump().then(() => DUMP_EVERY_MS));
    return reporting;
  }

  /** Deletes old rows and ends old requests. Returns the time until that is repeated. */
  async #tidy(): Promise<number> {
    const { modules, lease, providers, clock, log, signal } = this.#options;
    const { database } = modules;
    const configured = providers.map(({ name }) => name);
    for (const name of configured)
      await repairTimes(lease, name, { dialect: database.dialect, now: clock.now() });
    const now = await modules.deletionClock.now();
    const untracked = await untrackOthers(database, { configured, now });
    if (untracked > 0) log.info({ repositories: untracked }, "their providers are no longer tracked");
    await database.write
      .deleteFrom("worker_reports")
      .where("at", "<", now - DAY_MS)
      .execute();
    await removeOldRequests(database, now);
    const removed = await thinSnapshots({ database, now, signal });
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
    const { lease, providers, clock, log } = this.#options;
    for (const provider of providers) {
      const { name, settings } = provider;
      const report = this.reporters.get(name)?.report;
      if (report === undefined) continue;
      const withheld = provider.withheld();
      const added = withheld.filter((field) => !report.withheld.includes(field));
      if (added.length > 0)
        log.warn({ provider: name, fields: added }, "the forge withholds fields; all others are recorded");
      report.withheld = withheld;
      for (const what of ["held", "surplus"] as const) this.#logExcess(name, what, report[what]);
      report.quota = provider.quota();
      report.site = settings.url;
      await saveReport(lease, name, { at: clock.now(), report });
    }
  }
}
