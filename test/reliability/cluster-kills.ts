import { setTimeout } from "node:timers/promises";
import { GENEROUS_LIMITS } from "../../bench/support/keys.js";
import type { ResultRow } from "../../bench/support/results.js";
import { Random } from "../../src/demo/random.js";
import { systemClock } from "../../src/lib/clock.js";
import { Cluster, type ClusterOptions, HAS_CITUS, WITHOUT_CLUSTER } from "../support/cluster.js";
import { type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import {
  describeResult,
  killUnderLoad,
  type Result,
  rowsOf,
  type Trial,
  type TrialSize,
} from "./support/cluster-trial.js";
import { type Harness, type HarnessContext, HarnessFailure } from "./support/harness.js";
import { SteadyLoad } from "./support/steady-load.js";
import { SteadyWrites } from "./support/steady-writes.js";
import { SECRET, signInWriters } from "./support/written-service.js";
import { request } from "./support/written-things.js";

/** Far more than SIDEREAL_DATABASE_MAX_LAG, and long enough for every read to meet it. */
const DELAY = { seconds: "60", forMs: 75_000 };

const TRIALS: readonly Trial[] = [
  // Before all kills: what is logged must come from this one.
  {
    part: "replica",
    harm: {
      ...{ command: ["delay", DELAY.seconds], ms: DELAY.forMs },
      words: `all replicas ${DELAY.seconds} s behind`,
    },
    logged: "public reads go to the primary",
    recovery: [["delay", "0"]],
    reads: "unharmed",
  },
  { part: "serve1", recovery: [["start", "serve1"]], reads: "unharmed" },
  { part: "replica", recovery: [["start", "replica"]], reads: "unharmed" },
  { part: "work1", recovery: [["start", "work1"]], reads: "unharmed" },
  { part: "redis", recovery: [["start", "redis"]], reads: "unharmed" },
  { part: "pgbouncer", recovery: [["start", "pgbouncer"]], reads: "either" },
  { part: "nginx", recovery: [["start", "nginx"]], reads: "fail" },
  { part: "primary", recovery: [["promote"]], repair: [["rejoin"]], reads: "either" },
];
/** Whether reads fail depends on the speed of the machine, where two serve processes are left with one. */
const SHORT_TRIALS = TRIALS.filter(
  ({ part, harm }) => harm === undefined && ["serve1", "replica", "pgbouncer"].includes(part),
).map((trial): Trial => ({ ...trial, reads: "either" }));
/** In a cluster whose history is distributed. */
const CITUS_TRIALS: readonly Trial[] = [
  { part: "citus1", recovery: [["start", "citus1"]], reads: "fail" },
  {
    ...{ part: "primary", label: "Citus coordinator" },
    ...{ recovery: [["promote"]], repair: [["rejoin"]], reads: "either" },
  },
];

const SIZES: Record<HarnessContext["scale"], TrialSize> = {
  short: { rates: { reads: 10, writes: 5 }, warmMs: 1_000, noticeMs: 500, calmMs: 1_500 },
  long: { rates: { reads: 20, writes: 10 }, warmMs: 3_000, noticeMs: 2_000, calmMs: 4_000 },
};
/** Time in which workers must have recorded repositories. */
const TRACK_MS = 60_000;
const LOOK_MS = 100;
const FORGE_REPOSITORIES = 120;
const TOKEN = "ghp_ofTheHarness";

export const clusterKills: Harness = {
  name: "cluster-kills",
  proves:
    "Each part of a cluster can be killed under load: no acknowledged write is lost, and errors end when the part is back or replaced.",
  async run(context) {
    if (WITHOUT_CLUSTER !== false) throw new HarnessFailure(WITHOUT_CLUSTER);
    const small = { isSmall: true, settings: settingsOf(undefined) };
    const kill = (trials: readonly Trial[]) => (cluster: Cluster) => killParts(context, trials, cluster);
    if (context.scale === "short") return withCluster(small, kill(SHORT_TRIALS));
    const forge = await forgeOfTest();
    try {
      const full = { isSmall: false, settings: settingsOf(forge) };
      const distributed = { ...small, isSmall: false, isDistributed: true };
      if (!HAS_CITUS) context.report("without Citus, which is not installed");
      return [
        ...(await withCluster(full, kill(TRIALS))),
        ...(HAS_CITUS ? await withCluster(distributed, kill(CITUS_TRIALS)) : []),
        await withCluster(small, promoteLate),
      ];
    } finally {
      await forge.close();
    }
  },
};

async function withCluster<T>(options: ClusterOptions, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await Cluster.start(options);
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

async function killParts(
  { scale, report }: HarnessContext,
  trials: readonly Trial[],
  cluster: Cluster,
): Promise<ResultRow[]> {
  await untilTracked(cluster, FORGE_REPOSITORIES / 2);
  const writes = new SteadyWrites(new Random(1));
  const results: ResultRow[] = [];
  for (const trial of trials) {
    const result: Result = await killUnderLoad(cluster, trial, { size: SIZES[scale], writes });
    report(`${trial.harm?.words ?? trial.label ?? trial.part}: ${describeResult(result)}`);
    for (const line of result.lost.slice(0, 5)) report(line);
    results.push(...rowsOf(trial, result));
  }
  return results;
}

/** Until workers have recorded so many repositories. Without a forge the sample is there from the start. */
async function untilTracked(cluster: Cluster, least: number): Promise<void> {
  const latest = performance.now() + TRACK_MS;
  for (;;) {
    const { body } = await request(cluster, "GET", "/api/stats/summary");
    if (body?.data?.repositoryCount >= least) return;
    if (performance.now() > latest) throw new HarnessFailure("the workers recorded no repositories");
    await setTimeout(LOOK_MS);
  }
}

/** The control: a replica that was away while writes were acknowledged is promoted, as commits did not wait for it. */
async function promoteLate(cluster: Cluster): Promise<ResultRow> {
  const { rates, warmMs } = SIZES.long;
  const writers = await signInWriters({ url: cluster.databaseUrl, dataDir: cluster.state });
  const target = { url: cluster.url, ...writers };
  const writes = new SteadyWrites(new Random(1));
  await cluster.run("kill", "replica");
  const load = new SteadyLoad(() => writes.next(target), rates);
  await setTimeout(warmMs);
  await load.stop();
  await cluster.run("kill", "primary");
  await cluster.run("start", "replica");
  await cluster.run("promote");
  const lost = await writes.check(target);
  return {
    measure:
      "a replica that was behind promoted, without synchronous commits (the control): acknowledged writes lost",
    ...{ value: lost.length, unit: `of ${writes.acknowledged}`, engine: "postgres" },
    target: { atLeast: 1 },
  };
}

function forgeOfTest(): Promise<Forge> {
  const start = Date.now();
  const catalogue = new ForgeCatalogue({ seed: 1, repositories: FORGE_REPOSITORIES, start });
  return startForge({ kind: "github", clock: systemClock, catalogue });
}

function settingsOf(forge: Forge | undefined): Record<string, string> {
  return {
    ...GENEROUS_LIMITS,
    SIDEREAL_WATCHLISTS_PER_DAY: "1000000",
    SIDEREAL_WATCHLIST_ITEMS_PER_DAY: "1000000",
    SIDEREAL_AUTH_SECRET: SECRET,
    // Responses are computed, not taken from memory.
    SIDEREAL_CACHE_MB: "0",
    ...(forge === undefined
      ? {}
      : {
          SIDEREAL_PROVIDERS: "github",
          SIDEREAL_GITHUB_URL: forge.url,
          SIDEREAL_GITHUB_PRIVATE: "true",
          SIDEREAL_GITHUB_TOKENS: TOKEN,
          SIDEREAL_GITHUB_MIN_STARS: "0",
        }),
  };
}
