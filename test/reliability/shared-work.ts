import type { ResultRow } from "../../bench/support/results.js";
import { openDatabase } from "../../src/database/database.js";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import type { Engine } from "../support/engines.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { makeAllDue } from "../tracking/truth.js";
import { withEngines } from "./support/engines.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";

const SCALE = {
  short: { repositories: 40, hours: 8 },
  long: { repositories: 400, hours: 24 },
} as const;
/** Requests that the forge allows the token in an hour: fewer than there is work for. */
const ALLOWED = 30;
/** Everything becomes due this often. */
const DUE_EVERY_MS = 2 * HOUR_MS;

export const sharedWork: Harness = {
  name: "shared-work",
  proves:
    "Two workers with one token send no request over its quota and refresh nothing twice, and one continues when the other is killed.",
  async run({ scale, report }: HarnessContext): Promise<ResultRow[]> {
    const rows: ResultRow[] = [];
    await withEngines(async (engine) => {
      const played = await play(engine, SCALE[scale], true);
      report(`${engine.name}: ${JSON.stringify(played)}`);
      assertHappened(played.requests, "requests", ALLOWED);
      assertHappened(played.afterKill, "refreshes after the kill");
      const row = (
        measure: string,
        value: number,
        unit: string,
        target?: ResultRow["target"],
      ): ResultRow => ({
        measure,
        engine: engine.name,
        size: SCALE[scale].repositories,
        value,
        unit,
        ...(target && { target }),
      });
      rows.push(
        row("requests", played.requests, "requests"),
        row("requests over the quota of the token", played.over, "requests", { atMost: 0 }),
        row("duplicate refreshes", played.twice, "refreshes", { atMost: 0 }),
        row("refreshes after one worker was killed", played.afterKill, "refreshes", { atLeast: 1 }),
      );
      // Without the shared state the same day must exceed the quota, or it proves nothing.
      if (engine.name !== "sqlite") return;
      const alone = await play(engine, SCALE[scale], false);
      report(`${engine.name}, workers that know nothing of each other: ${JSON.stringify(alone)}`);
      assertHappened(alone.over, "requests over the quota of workers that know nothing of each other");
      rows.push(
        row("control: the same where workers know nothing of each other", alone.over, "requests", {
          atLeast: 1,
        }),
      );
    });
    return rows;
  },
};

interface Played {
  requests: number;
  /** Refused by the forge, or sent after it had said that nothing is left or to wait. */
  over: number;
  refreshed: number;
  twice: number;
  afterKill: number;
}

/** Two workers for some hours, the second of which is killed in the middle of a request after half of them. */
async function play(
  engine: Engine,
  { repositories, hours }: { repositories: number; hours: number },
  sharesQuota: boolean,
): Promise<Played> {
  const rounds = new Rounds();
  const wrap = (provider: Provider): Provider => ({
    ...provider,
    async refreshMany(refs: readonly RepositoryRef[], signal: AbortSignal) {
      const results = await provider.refreshMany(refs, signal);
      for (const [i, { providerId }] of refs.entries()) {
        const { kind } = results[i] ?? { kind: "skipped" };
        if (kind === "found" || kind === "unchanged") rounds.note(providerId);
      }
      return results;
    },
  });
  const forge: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories, catalogue: "quiet", wrap };
  const world = await createTrackingWorld(await engine.open(), [forge], { sharesQuota, idleMs: 60_000 });
  const simulated = world.forge("GITLAB");
  simulated.switches.gitlabGraphql = { offered: "none", lacks: [] };
  simulated.switches.allowances = { core: { limit: ALLOWED, anonymous: 0, windowMs: HOUR_MS } };
  const log = createLog("silent");
  const second = await openDatabase({ ...located(world), pool: 4, log });
  try {
    await world.addWorker(buildModules(second, { clock: world.clock, log }));
    const half = (hours * HOUR_MS) / 2;
    await work(world, rounds, half);
    await rounds.begin(world);
    // In the middle of its batch.
    await world.pass(60_000);
    world.kill();
    const { refreshed } = rounds;
    await world.pass(DUE_EVERY_MS);
    await work(world, rounds, half);
    const refused = simulated.counters.byStatus[429] ?? 0;
    return {
      requests: simulated.counters.requests,
      over: Math.max(refused, simulated.violations.length),
      refreshed: rounds.refreshed,
      twice: rounds.twice,
      afterKill: rounds.refreshed - refreshed,
    };
  } finally {
    await world.close();
    await second.close().catch(() => {});
  }
}

/** The same database, from another connection. */
function located({ modules }: TrackingWorld): { url: string | undefined; dataDir: string } {
  const { location } = modules.database;
  if (location === undefined) throw new Error("a database in memory has one connection");
  return location;
}

/** Times between which everything is due once. The catalogue is quiet, so the schedule refreshes nothing twice in one. */
class Rounds {
  refreshed = 0;
  twice = 0;
  readonly #done = new Set<string>();

  async begin(world: TrackingWorld): Promise<void> {
    this.#done.clear();
    await makeAllDue(world);
  }

  note(id: string): void {
    this.refreshed++;
    if (this.#done.has(id)) this.twice++;
    this.#done.add(id);
  }
}

/** Lets the workers run, while everything becomes due again and again. */
async function work(world: TrackingWorld, rounds: Rounds, ms: number): Promise<void> {
  for (const end = world.clock.now() + ms; world.clock.now() < end; ) {
    await rounds.begin(world);
    await world.pass(Math.min(DUE_EVERY_MS, end - world.clock.now()));
  }
}
