import { setTimeout } from "node:timers/promises";
import { GENEROUS_LIMITS } from "../../bench/support/keys.js";
import type { ResultRow } from "../../bench/support/results.js";
import { systemClock } from "../../src/clock.js";
import { Random } from "../../src/demo/random.js";
import { Cluster, WITHOUT_CLUSTER } from "../support/cluster.js";
import { type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { assertHappened, type Harness, type HarnessContext, HarnessFailure } from "./support/harness.js";
import { describeProblems, type Outcome, type Rates, SteadyLoad } from "./support/steady-load.js";
import { SteadyWrites } from "./support/steady-writes.js";
import { SECRET, signInWriters } from "./support/written-service.js";
import { request, type WriteTarget } from "./support/written-things.js";

/** A part that is killed, and what brings it back. */
interface Trial {
  part: string;
  /** Commands of the cluster some seconds after the kill: what systemd or an operator does. */
  recovery: readonly string[][];
  /** Commands after the trial. */
  repair?: readonly string[][];
  /** Whether reads go on without an error, or must see some: else the part was not killed. */
  reads: "unharmed" | "fail" | "either";
}

const TRIALS: readonly Trial[] = [
  { part: "serve1", recovery: [["start", "serve1"]], reads: "unharmed" },
  { part: "replica", recovery: [["start", "replica"]], reads: "unharmed" },
  { part: "work1", recovery: [["start", "work1"]], reads: "unharmed" },
  { part: "redis", recovery: [["start", "redis"]], reads: "unharmed" },
  { part: "pgbouncer", recovery: [["start", "pgbouncer"]], reads: "either" },
  { part: "nginx", recovery: [["start", "nginx"]], reads: "fail" },
  { part: "primary", recovery: [["promote"]], repair: [["rejoin"]], reads: "either" },
];
const SHORT_PARTS = ["serve1", "replica", "pgbouncer"];

interface Size {
  isSmall: boolean;
  rounds: number;
  rates: Rates;
  /** Load before a kill, time until somebody notices it, and time without an error after which the part counts as recovered. */
  warmMs: number;
  noticeMs: number;
  calmMs: number;
}

const SIZES: Record<HarnessContext["scale"], Size> = {
  short: {
    ...{ isSmall: true, rounds: 1, rates: { reads: 10, writes: 5 } },
    ...{ warmMs: 1_000, noticeMs: 500, calmMs: 1_500 },
  },
  long: {
    ...{ isSmall: false, rounds: 1, rates: { reads: 20, writes: 10 } },
    ...{ warmMs: 3_000, noticeMs: 2_000, calmMs: 4_000 },
  },
};
/** Time after which a part that has not recovered is a failure. */
const GIVE_UP_MS = 60_000;
const LOOK_MS = 100;
/** Time after which a client gives up a read. */
const READ_MS = 10_000;
const FORGE_REPOSITORIES = 120;
const TOKEN = "ghp_ofTheHarness";

export const clusterKills: Harness = {
  name: "cluster-kills",
  proves:
    "Each part of a cluster can be killed under load: no acknowledged write is lost, and errors end when the part is back or replaced.",
  async run(context) {
    if (WITHOUT_CLUSTER !== false) throw new HarnessFailure(WITHOUT_CLUSTER);
    const size = SIZES[context.scale];
    const forge = size.isSmall ? undefined : await forgeOfTest();
    try {
      const cluster = await Cluster.start({ isSmall: size.isSmall, settings: settingsOf(forge) });
      let rows: ResultRow[];
      try {
        rows = await killParts(context, size, cluster);
      } finally {
        await cluster.stop();
      }
      return context.scale === "short" ? rows : [...rows, await promoteLate(size)];
    } finally {
      await forge?.close();
    }
  },
};

/** The control: a replica that was away while writes were acknowledged is promoted, as commits did not wait for it. */
async function promoteLate({ rates, warmMs }: Size): Promise<ResultRow> {
  const cluster = await Cluster.start({ isSmall: true, settings: settingsOf(undefined) });
  try {
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
  } finally {
    await cluster.stop();
  }
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

async function killParts(
  { scale, report }: HarnessContext,
  size: Size,
  cluster: Cluster,
): Promise<ResultRow[]> {
  await untilTracked(cluster, size);
  const writes = new SteadyWrites(new Random(1));
  const results = new Map<string, Result[]>();
  const trials = scale === "short" ? TRIALS.filter(({ part }) => SHORT_PARTS.includes(part)) : TRIALS;
  for (let round = 0; round < size.rounds; round++)
    for (const trial of trials) {
      const result = await kill(cluster, trial, { size, writes });
      results.set(trial.part, [...(results.get(trial.part) ?? []), result]);
      report(`${trial.part}: ${describe(result)}`);
      for (const line of result.lost.slice(0, 5)) report(line);
    }
  return trials.flatMap((trial) => rowsOf(trial, results.get(trial.part) ?? []));
}

/** Without a forge the sample is there from the start. */
async function untilTracked(cluster: Cluster, { isSmall }: Size): Promise<void> {
  const latest = performance.now() + GIVE_UP_MS;
  for (;;) {
    const { body } = await request(cluster, "GET", "/api/stats/summary");
    if (body?.data?.repositoryCount >= (isSmall ? 1 : FORGE_REPOSITORIES / 2)) return;
    if (performance.now() > latest) throw new HarnessFailure("the workers recorded no repositories");
    await setTimeout(LOOK_MS);
  }
}

interface Result {
  outcomes: Outcome[];
  /** ms from the kill to the last error; 0 without one. */
  lastErrorMs: number;
  /** ms from the kill until the commands that bring the part back have ended. */
  recoveredMs: number;
  acknowledged: number;
  /** Acknowledged writes that are not as acknowledged. */
  lost: string[];
}

interface Trying {
  size: Size;
  writes: SteadyWrites;
}

async function kill(cluster: Cluster, trial: Trial, { size, writes }: Trying): Promise<Result> {
  const target: WriteTarget = {
    url: cluster.url,
    ...(await signInWriters({ url: cluster.databaseUrl, dataDir: cluster.state })),
  };
  const acknowledged = writes.acknowledged;
  const load = new SteadyLoad(
    async (kind, i) =>
      kind === "write" ? writes.next(target) : read(target.url + pathOf(target.repositoryIds, i)),
    size.rates,
  );
  const { outcomes } = load;
  const since = (ms: number) => outcomes.filter(({ endedAt, problem }) => problem && endedAt >= ms);
  try {
    await setTimeout(size.warmMs);
    const killedAt = performance.now();
    await cluster.run("kill", trial.part);
    await setTimeout(size.noticeMs);
    for (const command of trial.recovery) await cluster.run(...command);
    const recoveredAt = performance.now();
    for (;;) {
      await setTimeout(LOOK_MS);
      const now = performance.now();
      if (now - recoveredAt >= size.calmMs && since(now - size.calmMs).length === 0) break;
      if (now - recoveredAt > GIVE_UP_MS)
        throw new HarnessFailure(
          `${trial.part} does not recover: ${describeProblems(since(now - size.calmMs))}`,
        );
    }
    await load.stop();
    for (const command of trial.repair ?? []) await cluster.run(...command);
    const before = outcomes.filter(({ endedAt, problem }) => problem && endedAt < killedAt);
    if (before.length > 0) throw new HarnessFailure(`errors before the kill: ${describeProblems(before)}`);
    return {
      outcomes,
      lastErrorMs: Math.max(0, ...since(killedAt).map(({ endedAt }) => endedAt - killedAt)),
      recoveredMs: recoveredAt - killedAt,
      acknowledged: writes.acknowledged - acknowledged,
      lost: await writes.check(target),
    };
  } finally {
    await load.stop();
  }
}

/** What is read: lists in several orders and pages, series, and a page for people. */
function pathOf(ids: readonly string[], i: number): string {
  const id = ids[i % ids.length];
  return (
    [
      `/api/repos?sort=stars&page=${1 + (i % 10)}`,
      `/api/repos/${id}/metrics`,
      `/api/repos?q=a&limit=${1 + (i % 50)}`,
      "/",
    ][i % 4] ?? "/"
  );
}

/** Sends a read. Resolves with its status, 0 if its response did not arrive whole. */
async function read(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(READ_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

function describe({ outcomes, lastErrorMs, recoveredMs, acknowledged, lost }: Result): string {
  const problems = describeProblems(outcomes);
  return `${problems === "" ? "no errors" : problems} of ${outcomes.length}; last after ${Math.round(lastErrorMs)} ms, back after ${Math.round(recoveredMs)} ms; ${lost.length} of ${acknowledged} acknowledged writes lost`;
}

/** Throws HarnessFailure where too little was sent, or a kill that must be noticed was not. */
function rowsOf({ part, reads }: Trial, results: readonly Result[]): ResultRow[] {
  const outcomes = results.flatMap((one) => one.outcomes);
  const errors = outcomes.filter(({ problem }) => problem !== undefined);
  const failedReads = errors.filter(({ kind }) => kind === "read");
  const failedWrites = errors.filter(({ kind }) => kind === "write");
  const sum = (of: (result: Result) => number) => results.reduce((total, one) => total + of(one), 0);
  const longest = (of: (result: Result) => number) => Math.max(...results.map(of)) / 1_000;
  const acknowledged = sum((one) => one.acknowledged);
  assertHappened(outcomes.length, `requests while ${part} was killed`, 20);
  assertHappened(acknowledged, `acknowledged writes while ${part} was killed`, 5);
  if (reads === "fail") assertHappened(failedReads.length, `failed reads while ${part} was killed`);
  const row = (measure: string, value: number, more: Partial<ResultRow>): ResultRow => ({
    ...{ measure: `${part} killed: ${measure}`, value, unit: "", engine: "postgres" },
    ...more,
  });
  return [
    row("reads that failed", failedReads.length, {
      unit: `of ${outcomes.filter(({ kind }) => kind === "read").length}`,
      ...(failedReads.length > 0 && { note: describeProblems(failedReads) }),
      ...(reads === "unharmed" && { target: { atMost: 0 } }),
    }),
    row("writes that failed", failedWrites.length, {
      unit: `of ${outcomes.filter(({ kind }) => kind === "write").length}`,
      ...(failedWrites.length > 0 && { note: describeProblems(failedWrites) }),
    }),
    row(
      "acknowledged writes lost",
      sum(({ lost }) => lost.length),
      {
        unit: `of ${acknowledged}`,
        target: { atMost: 0 },
      },
    ),
    row(
      "restarted or replaced after",
      longest((one) => one.recoveredMs),
      { unit: "s" },
    ),
    row(
      "last error after",
      longest((one) => one.lastErrorMs),
      { unit: "s" },
    ),
  ];
}
