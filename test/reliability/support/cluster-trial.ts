/** One part of a cluster harmed under load, and what clients noticed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ResultRow } from "../../../bench/support/results.js";
import type { Cluster } from "../../support/cluster.js";
import { assertHappened, HarnessFailure } from "./harness.js";
import { describeProblems, type Outcome, type Rates, SteadyLoad } from "./steady-load.js";
import type { SteadyWrites } from "./steady-writes.js";
import { signInWriters } from "./written-service.js";
import type { WriteTarget } from "./written-things.js";

/** A part that is killed, or harmed otherwise, and what brings it back. */
export interface Trial {
  part: string;
  /** Another harm than a kill, and how long it lasts. */
  harm?: { command: readonly string[]; ms: number; words: string };
  /** What every serve must log because of the harm. */
  logged?: string;
  /** What it is called in the table, if not by its part. */
  label?: string;
  /** Commands of the cluster some seconds after the kill: what systemd or an operator does. */
  recovery: readonly string[][];
  /** Commands after the trial. */
  repair?: readonly string[][];
  /** Whether reads go on without an error, or must see some: else the part was not killed. */
  reads: "unharmed" | "fail" | "either";
}

export interface TrialSize {
  rates: Rates;
  /** Load before a kill, time until somebody notices it, and time without an error after which the part counts as recovered. */
  warmMs: number;
  noticeMs: number;
  calmMs: number;
}

/** Time after which a part that has not recovered is a failure. */
const GIVE_UP_MS = 60_000;
const LOOK_MS = 100;
/** Time after which a client gives up a read. */
const READ_MS = 10_000;

export interface Result {
  outcomes: Outcome[];
  /** ms from the kill to the last error; 0 without one. */
  lastErrorMs: number;
  /** ms from the kill until the commands that bring the part back have ended. */
  recoveredMs: number;
  acknowledged: number;
  /** Acknowledged writes that are not as acknowledged. */
  lost: string[];
}

export interface TrialOptions {
  size: TrialSize;
  writes: SteadyWrites;
}

/** Kills the part and brings it back while clients read and write. Throws HarnessFailure if it does not recover. */
export async function killUnderLoad(
  cluster: Cluster,
  trial: Trial,
  { size, writes }: TrialOptions,
): Promise<Result> {
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
    await cluster.run(...(trial.harm?.command ?? ["kill", trial.part]));
    await setTimeout(trial.harm?.ms ?? size.noticeMs);
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
    if (trial.logged !== undefined) assertLogged(cluster, trial.logged);
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

/** Throws HarnessFailure unless every serve has logged the text. */
function assertLogged({ state }: Cluster, text: string): void {
  for (const part of readFileSync(join(state, "serves"), "utf8").split(" ")) {
    const hasLogged = readFileSync(join(state, `${part}.log`), "utf8").includes(text);
    assertHappened(hasLogged ? 1 : 0, `“${text}” in the log of ${part}`);
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

/** A line of progress. */
export function describeResult({ outcomes, lastErrorMs, recoveredMs, acknowledged, lost }: Result): string {
  const problems = describeProblems(outcomes);
  return `${problems === "" ? "no errors" : problems} of ${outcomes.length}; last after ${Math.round(lastErrorMs)} ms, back after ${Math.round(recoveredMs)} ms; ${lost.length} of ${acknowledged} acknowledged writes lost`;
}

/** The rows of a part. Throws HarnessFailure where too little was sent, or a kill that must be noticed was not. */
export function rowsOf({ part, label = part, harm, reads }: Trial, result: Result): ResultRow[] {
  const { outcomes, acknowledged, lost, recoveredMs, lastErrorMs } = result;
  const harmed = harm?.words ?? `${label} killed`;
  const rowOf = (kind: Outcome["kind"], target?: ResultRow["target"]): ResultRow => {
    const sent = outcomes.filter((one) => one.kind === kind);
    const failed = sent.filter(({ problem }) => problem !== undefined);
    return row(`${kind}s that failed`, failed.length, {
      unit: `of ${sent.length}`,
      ...(failed.length > 0 && { note: describeProblems(failed) }),
      ...(target && { target }),
    });
  };
  const row = (measure: string, value: number, more: Partial<ResultRow>): ResultRow => ({
    ...{ measure: `${harmed}: ${measure}`, value, unit: "", engine: "postgres" },
    ...more,
  });
  assertHappened(outcomes.length, `requests, ${harmed}`, 20);
  assertHappened(acknowledged, `acknowledged writes, ${harmed}`, 5);
  const failedReads = rowOf("read", reads === "unharmed" ? { atMost: 0 } : undefined);
  if (reads === "fail") assertHappened(failedReads.value, `failed reads, ${harmed}`);
  return [
    failedReads,
    rowOf("write"),
    row("acknowledged writes lost", lost.length, { unit: `of ${acknowledged}`, target: { atMost: 0 } }),
    row("restarted or replaced after", recoveredMs / 1_000, { unit: "s" }),
    row("last error after", lastErrorMs / 1_000, { unit: "s" }),
  ];
}
