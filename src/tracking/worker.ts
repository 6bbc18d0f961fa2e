import { type Clock, DAY_MS, HOUR_MS } from "../clock.js";
import type { ProviderSettings } from "../forges.js";
import type { Logger } from "../log.js";
import { type AvatarSource, type Call, type Provider, UpstreamFailure } from "../providers/providers.js";
import { removeOldRequests } from "../track-requests/track-requests.js";
import { Alarm } from "./alarm.js";
import { AvatarLane, noteWanted } from "./avatar-lane.js";
import { BackfillLane } from "./backfill-lane.js";
import { restAfter, Stretch } from "./cadence.js";
import { DiscoveryLane } from "./discovery-lane.js";
import { type Lane, Reporter, type Step, type TrackingModules, WORKER, waiting } from "./lane.js";
import { ListLane } from "./list-lane.js";
import { RecheckLane } from "./recheck-lane.js";
import { RefreshLane } from "./refresh-lane.js";
import { RequestLane } from "./request-lane.js";
import { type Retention, thinSnapshots } from "./retention.js";
import { repairTimes } from "./schedule.js";
import { prepareStatus } from "./status-document.js";
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
/** Somebody who has requested a repository waits for its growth: then this share of time, and this pause. */
const DERIVE_SOON_SHARE = 0.2;
const DERIVE_SOON_MS = 1_000;
const RETENTION_EVERY_MS = 3_600_000;
const REPORT_EVERY_MS = 10_000;
const AVATAR_PAUSE_MS = 1_000;
/** Share of time spent preparing the status for pages: counting rows takes a second in large catalogues. */
const STATUS_SHARE = 0.02;
const DUMP_EVERY_MS = 3_600_000;
/** Pause of a lane after an unexpected error. */
const ERROR_REST_MS = 60_000;

/** Longest wait for a forge when the worker runs once. */
const PATIENCE_MS = 61_000;

/** After this many steps in a row without a request nothing is due: one can also be too early by a millisecond. */
const IDLE_STEPS = 3;

/** What is logged where a forge reports too much. */
const EXCESSES = {
  held: "too many repositories are lost; the rest is held back",
  surplus: "lists show too many new repositories for a day; the rest is left out until a later one",
} as const;

/** A loop that does one step at a time. */
interface Loop {
  name: string;
  step: () => Promise<Step>;
  /** Ends its wait early. */
  alarm?: Alarm;
  /** What a lane has besides: its reporter, and when its next request may be sent, in ms since 1970. */
  lane?: { provider: Provider; reporter: Reporter; readyAt: () => number };
}

/** Runs the loops that fill and refresh the catalogue. They are independent: a forge that is down delays no other. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  #waking = new AbortController();
  readonly #loops: Loop[];
  readonly reporters: ReadonlyMap<string, Reporter>;
  /** What each provider reported too much of, when that was logged last. */
  readonly #excesses = new Map<string, { total: number; day: number }>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { modules, providers, clock, log, chance = Math.random, retention } = options;
    const { signal } = this.#stopping;
    const reporters = new Map<string, Reporter>();
    const derived = new Alarm(clock, signal);
    const onRecorded = () => derived.ring();
    this.#loops = providers.flatMap((provider) => {
      const reporter = new Reporter(clock.now());
      reporters.set(provider.name, reporter);
      const stretch = new Stretch();
      const lane: Lane = { modules, provider, clock, reporter, stretch, chance, signal };
      const refresh = new RefreshLane(lane, options.idleMs);
      const recheck = new RecheckLane(lane);
      const discovery = new DiscoveryLane(lane);
      const backfill = new BackfillLane(lane, options.idleMs);
      const requests = new RequestLane(lane, { onRecorded, idleMs: options.requestsEveryMs });
      const lists = new ListLane(lane, { providers, idleMs: options.requestsEveryMs });
      const laneOf = (call: Call) => ({ provider, reporter, readyAt: () => provider.readyAt(call) });
      const loops: Loop[] = [
        { name: `${provider.name} refresh`, step: () => refresh.step(), lane: laneOf("refresh") },
        { name: `${provider.name} recheck`, step: () => recheck.step(), lane: laneOf("recheck") },
        { name: `${provider.name} discover`, step: () => discovery.step(), lane: laneOf("discover") },
        { name: `${provider.name} requests`, step: () => requests.step(), lane: laneOf("recheck") },
        { name: `${provider.name} lists`, step: () => lists.step(), lane: laneOf("recheck") },
      ];
      const source = options.avatars?.get(provider.name);
      if (source !== undefined) {
        const { name, settings } = provider;
        const avatars = new AvatarLane({ ...lane, provider: name, source, pauseMs: avatarPause(settings) });
        // Not a lane for `runOnce` and the failures of the forge: it is no part of what a forge allows.
        loops.push({ name: `${name} avatars`, step: () => avatars.step() });
      }
      // Only GitHub offers star histories.
      if (provider.kind !== "github") return loops;
      return [
        ...loops,
        { name: `${provider.name} backfill`, step: () => backfill.step(), lane: laneOf("history") },
      ];
    });
    this.reporters = reporters;
    this.#loops.push(
      {
        name: "derive",
        alarm: derived,
        step: async () => {
          const began = clock.monotonic();
          await options.derive();
          const took = clock.monotonic() - began;
          derived.leastMs = Math.max(DERIVE_SOON_MS, took / DERIVE_SOON_SHARE);
          const rest = Math.min(DERIVE_MAX_MS, Math.max(DERIVE_MIN_MS, took / DERIVE_SHARE));
          return waiting(options.deriveEveryMs ?? rest);
        },
      },
      {
        name: "retention",
        step: async () => {
          const configured = providers.map(({ name }) => name);
          for (const name of configured) await repairTimes(modules.database, name, clock.now());
          const untracked = await untrackOthers(modules.database, { configured, now: clock.now() });
          if (untracked > 0)
            log.info({ repositories: untracked }, "no worker tracks their providers any more");
          await removeOldRequests(modules.database, clock.now());
          const removed = await thinSnapshots({ database: modules.database, clock, signal }, retention);
          if (removed > 0) log.info({ snapshots: removed }, "thinned old snapshots");
          const evicted = await modules.avatars.store.evict();
          if (evicted > 0) log.info({ avatars: evicted }, "removed avatars that no list needs");
          return waiting(RETENTION_EVERY_MS);
        },
      },
      {
        name: "report",
        step: async () => {
          await this.#writeReports();
          return waiting(options.reportEveryMs ?? REPORT_EVERY_MS);
        },
      },
    );
    if (options.avatars !== undefined) {
      const tracked = [...options.avatars.keys()];
      this.#loops.push({
        name: "avatars",
        step: async () => {
          return waiting(await noteWanted(modules, tracked));
        },
      });
    }
    this.#loops.push({
      name: "status",
      step: async () => {
        const began = clock.monotonic();
        await prepareStatus(modules, clock.now());
        const rest = (clock.monotonic() - began) / STATUS_SHARE;
        return waiting(Math.max(options.reportEveryMs ?? REPORT_EVERY_MS, rest));
      },
    });
    const { dump } = options;
    if (dump !== undefined)
      this.#loops.push({
        name: "dump",
        step: async () => {
          await dump();
          return waiting(DUMP_EVERY_MS);
        },
      });
  }

  /** Number of loops. */
  get loops(): number {
    return this.#loops.length;
  }

  /** Runs until `stop` is called. */
  async run(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => this.#run(loop)));
    await this.#writeReports();
  }

  /**
   * Does what is due now, as far as each forge allows it without waiting for more than a minute, then updates everything derived.
   * A lane ends at its first failure.
   */
  async runOnce(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => this.#drain(loop)));
    if (!this.#stopping.signal.aborted) await this.#options.derive();
    await this.#writeReports();
    await prepareStatus(this.#options.modules, this.#options.clock.now());
  }

  /** Ends all waits, as when a forge permits more than it did before. */
  wake(): void {
    this.#waking.abort();
    this.#waking = new AbortController();
  }

  /** Ends all loops soon; claimed work that is not done is released. */
  stop(): void {
    this.#stopping.abort();
  }

  async #drain({ name, step, lane }: Loop): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    for (let idle = 0; lane !== undefined && idle < IDLE_STEPS && !signal.aborted; ) {
      try {
        const notReadyMs = lane.readyAt() - clock.now();
        const { waitMs, hasResponse } = notReadyMs > 0 ? waiting(notReadyMs) : await step();
        if (waitMs > PATIENCE_MS && (hasResponse || notReadyMs > 0)) return;
        idle = hasResponse || notReadyMs > 0 ? 0 : idle + 1;
        if (idle === 0) await clock.sleep(waitMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UpstreamFailure)) throw error;
        lane.reporter.failed(error, clock.now());
        log.warn({ loop: name, kind: error.kind, reason: error.reason }, error.message);
        return;
      } finally {
        this.#noteTokens(lane);
      }
    }
  }

  async #run({ name, step, lane, alarm }: Loop): Promise<void> {
    const { clock, log, chance = Math.random } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      let wait: number;
      try {
        const { waitMs, hasResponse } = await step();
        wait = waitMs;
        if (hasResponse) failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (error instanceof UpstreamFailure) {
          lane?.reporter.failed(error, clock.now());
          wait = restOf(error, clock.now(), restAfter(failures, chance()));
          const { kind, message, reason } = error;
          log[kind === "quota" ? "debug" : "warn"]({ loop: name, kind, reason, waitMs: wait }, message);
        } else {
          wait = ERROR_REST_MS;
          log.error(
            { err: error, loop: name },
            "unexpected error in a loop of the worker; it continues in a minute",
          );
        }
      } finally {
        if (lane !== undefined) this.#noteTokens(lane);
      }
      await (alarm?.sleep(wait) ?? clock.sleep(wait, AbortSignal.any([signal, this.#waking.signal])));
    }
  }

  /** Logs tokens that stopped working and those that work again, once each. */
  #noteTokens({ provider, reporter }: NonNullable<Loop["lane"]>): void {
    const notices = provider.notices();
    reporter.noticed(notices);
    for (const { token: label, isWorking, isNew, message } of notices) {
      if (isNew) this.#options.log[isWorking ? "info" : "warn"]({ provider: provider.name, label }, message);
    }
  }

  /** Logs once a day that a forge reports too much of something. */
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
      const row = { worker: WORKER, provider: provider.name, at: clock.now(), body: JSON.stringify(report) };
      await modules.database.write
        .insertInto("worker_reports")
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(["worker", "provider"]).doUpdateSet({ at: row.at, body: row.body }),
        )
        .execute();
    }
    await modules.database.write
      .deleteFrom("worker_reports")
      .where("at", "<", clock.now() - DAY_MS)
      .execute();
  }
}

/** Pause between two requests for avatars: a tenth of the operator's limit on requests is theirs. */
function avatarPause({ requestsPerHour }: ProviderSettings): number {
  return requestsPerHour === null
    ? AVATAR_PAUSE_MS
    : Math.max(AVATAR_PAUSE_MS, (10 * HOUR_MS) / requestsPerHour);
}

/** As long as the forge asked, but at least `leastMs`. */
function restOf({ until }: UpstreamFailure, now: number, leastMs: number): number {
  return Math.max(leastMs, until === null ? 0 : until - now);
}
