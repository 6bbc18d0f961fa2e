import { type Clock, DAY_MS } from "../clock.js";
import type { Logger } from "../log.js";
import { type Provider, UpstreamFailure } from "../providers/providers.js";
import { BackfillLane } from "./backfill.js";
import { restAfter } from "./cadence.js";
import { type Lane, type Step, type TrackingModules, waiting } from "./context.js";
import { DiscoverLane } from "./discover.js";
import { RefreshLane } from "./refresh.js";
import { Reporter, WORKER } from "./report.js";
import { DEFAULT_RETENTION, type Retention, thinSnapshots } from "./retention.js";
import { mendTimes } from "./schedule.js";

export interface WorkerOptions {
  modules: TrackingModules;
  providers: readonly Provider[];
  clock: Clock;
  log: Logger;
  /** From 0 to 1, for spreading what is due. */
  chance?: () => number;
  /** Brings up to date what is derived. */
  derive: () => Promise<void>;
  /** How long after it ended it is called again; where absent, as soon as its cost allows. */
  deriveEveryMs?: number;
  /** How often it writes down how it is doing. */
  reportEveryMs?: number;
  retention?: Retention;
}

/** Deriving takes this part of the time at most, unless a minute has passed: a small catalogue is shown within seconds. */
const DERIVE_PART = 0.05;
const DERIVE_SOONEST_MS = 5_000;
const DERIVE_LATEST_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;
const REPORT_EVERY_MS = 10_000;
/** After a fault of our own a lane goes on this much later. */
const FAULT_REST_MS = 60_000;

/** One loop: does a piece of work at a time. */
interface Loop {
  name: string;
  step: () => Promise<Step>;
  reporter?: Reporter;
}

/** The loops that fill and refresh the catalogue. Each lane goes on by itself: a forge that is down delays no other. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #lanes: Loop[];
  readonly reporters: ReadonlyMap<string, Reporter>;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { modules, providers, clock, log, chance = Math.random, retention = DEFAULT_RETENTION } = options;
    const { signal } = this.#stopping;
    const reporters = new Map<string, Reporter>();
    this.#lanes = providers.flatMap((provider) => {
      const reporter = new Reporter(clock.now());
      reporters.set(provider.name, reporter);
      const lane: Lane = { modules, provider, clock, reporter, chance, signal };
      const [refresh, discover, backfill] = [
        new RefreshLane(lane),
        new DiscoverLane(lane),
        new BackfillLane(lane),
      ];
      const steps = [
        { name: `${provider.name} refresh`, step: () => refresh.step(), reporter },
        { name: `${provider.name} discover`, step: () => discover.step(), reporter },
      ];
      // Only GitHub tells the past.
      if (provider.kind !== "github") return steps;
      return [...steps, { name: `${provider.name} backfill`, step: () => backfill.step(), reporter }];
    });
    this.reporters = reporters;
    this.#lanes.push(
      {
        name: "derive",
        step: async () => {
          const began = clock.monotonic();
          await options.derive();
          const rest = (clock.monotonic() - began) / DERIVE_PART;
          return waiting(
            options.deriveEveryMs ?? Math.min(DERIVE_LATEST_MS, Math.max(DERIVE_SOONEST_MS, rest)),
          );
        },
      },
      {
        name: "retention",
        step: async () => {
          for (const { name } of providers) await mendTimes(modules.database, name, clock.now());
          const removed = await thinSnapshots(modules.database, clock, retention, signal);
          if (removed > 0) log.info({ snapshots: removed }, "old snapshots were thinned");
          return waiting(RETENTION_EVERY_MS);
        },
      },
      {
        name: "report",
        step: async () => {
          await this.#report();
          return waiting(options.reportEveryMs ?? REPORT_EVERY_MS);
        },
      },
    );
  }

  /** How many loops there are. */
  get lanes(): number {
    return this.#lanes.length;
  }

  /** Works until `stop`. */
  async run(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => this.#loop(lane)));
    await this.#report();
  }

  /** Ends all loops soon; what was taken and not done is given back. */
  stop(): void {
    this.#stopping.abort();
  }

  async #loop({ name, step, reporter }: Loop): Promise<void> {
    const { clock, log, chance = Math.random } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      let wait: number;
      try {
        const { waitMs, hasAnswer } = await step();
        wait = waitMs;
        if (hasAnswer) failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (error instanceof UpstreamFailure) {
          reporter?.failed(error, clock.now());
          wait = restOf(error, failures, clock.now(), chance());
          const { kind, message } = error;
          log[kind === "quota" ? "debug" : "warn"]({ lane: name, kind, waitMs: wait }, message);
        } else {
          wait = FAULT_REST_MS;
          log.error({ err: error, lane: name }, "a lane of the worker failed; it goes on in a minute");
        }
      }
      await clock.sleep(wait, signal);
    }
  }

  async #report(): Promise<void> {
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

/** As long as the forge asked for, or longer with each failure in a row. */
function restOf({ until }: UpstreamFailure, failures: number, now: number, chance: number): number {
  const asked = until === null ? 0 : Math.max(0, until - now);
  return Math.max(asked, restAfter(failures, chance));
}
