import { type Clock, DAY_MS } from "../clock.js";
import type { Logger } from "../log.js";
import { type Provider, UpstreamFailure } from "../providers/providers.js";
import { BackfillLane } from "./backfill-lane.js";
import { restAfter } from "./cadence.js";
import { DiscoveryLane } from "./discovery-lane.js";
import { type Lane, Reporter, type Step, type TrackingModules, WORKER, waiting } from "./lane.js";
import { RecheckLane } from "./recheck-lane.js";
import { RefreshLane } from "./refresh-lane.js";
import { type Retention, thinSnapshots } from "./retention.js";
import { repairTimes } from "./schedule.js";
import { untrackOthers } from "./untrack.js";

export interface WorkerOptions {
  modules: TrackingModules;
  providers: readonly Provider[];
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
  /** How often the worker looks for repositories that another process made due; default 1 min. */
  idleMs?: number;
  retention?: Retention;
}

/** Share of time spent deriving, unless a minute has passed; a small catalogue is visible within seconds. */
const DERIVE_SHARE = 0.05;
const DERIVE_MIN_MS = 5_000;
const DERIVE_MAX_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;
const REPORT_EVERY_MS = 10_000;
/** Pause of a lane after an unexpected error. */
const ERROR_REST_MS = 60_000;

/** A loop that does one step at a time. */
interface Loop {
  name: string;
  step: () => Promise<Step>;
  reporter?: Reporter;
}

/** Runs the loops that fill and refresh the catalogue. They are independent: a forge that is down delays no other. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #loops: Loop[];
  readonly reporters: ReadonlyMap<string, Reporter>;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { modules, providers, clock, log, chance = Math.random, retention } = options;
    const { signal } = this.#stopping;
    const reporters = new Map<string, Reporter>();
    this.#loops = providers.flatMap((provider) => {
      const reporter = new Reporter(clock.now());
      reporters.set(provider.name, reporter);
      const lane: Lane = { modules, provider, clock, reporter, chance, signal };
      const refresh = new RefreshLane(lane, options.idleMs);
      const recheck = new RecheckLane(lane);
      const discovery = new DiscoveryLane(lane);
      const backfill = new BackfillLane(lane);
      const loops: Loop[] = [
        { name: `${provider.name} refresh`, step: () => refresh.step(), reporter },
        { name: `${provider.name} recheck`, step: () => recheck.step(), reporter },
        { name: `${provider.name} discover`, step: () => discovery.step(), reporter },
      ];
      // Only GitHub offers star histories.
      if (provider.kind !== "github") return loops;
      return [...loops, { name: `${provider.name} backfill`, step: () => backfill.step(), reporter }];
    });
    this.reporters = reporters;
    this.#loops.push(
      {
        name: "derive",
        step: async () => {
          const began = clock.monotonic();
          await options.derive();
          const rest = (clock.monotonic() - began) / DERIVE_SHARE;
          return waiting(options.deriveEveryMs ?? Math.min(DERIVE_MAX_MS, Math.max(DERIVE_MIN_MS, rest)));
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
          const removed = await thinSnapshots({ database: modules.database, clock, signal }, retention);
          if (removed > 0) log.info({ snapshots: removed }, "thinned old snapshots");
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

  /** Ends all loops soon; claimed work that is not done is released. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run({ name, step, reporter }: Loop): Promise<void> {
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
          reporter?.failed(error, clock.now());
          wait = restOf(error, clock.now(), restAfter(failures, chance()));
          const { kind, message } = error;
          log[kind === "quota" ? "debug" : "warn"]({ loop: name, kind, waitMs: wait }, message);
        } else {
          wait = ERROR_REST_MS;
          log.error(
            { err: error, loop: name },
            "unexpected error in a loop of the worker; it continues in a minute",
          );
        }
      }
      await clock.sleep(wait, signal);
    }
  }

  async #writeReports(): Promise<void> {
    const { modules, providers, clock } = this.#options;
    for (const provider of providers) {
      const report = this.reporters.get(provider.name)?.report;
      if (report === undefined) continue;
      report.quota = provider.quota().map(({ token, resource, limit, remaining, resetAt }) => ({
        token,
        resource,
        limit,
        remaining,
        resetAt,
      }));
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

/** As long as the forge asked, but at least `leastMs`. */
function restOf({ until }: UpstreamFailure, now: number, leastMs: number): number {
  return Math.max(leastMs, until === null ? 0 : until - now);
}
