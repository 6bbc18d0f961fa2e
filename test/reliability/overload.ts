import { addKeys, GENEROUS_LIMITS } from "../../bench/support/keys.js";
import type { LoadReport, LoadRequest, Timely } from "../../bench/support/load.js";
import { type MeasuredServer, startSidereal } from "../../bench/support/processes.js";
import { absoluteRow, type ResultRow, ratioRow } from "../../bench/support/results.js";
import { runLoad } from "../../bench/support/run-load.js";
import { copyStore, prepareStore, type Store } from "../../bench/support/stores.js";
import { limits } from "../support/limits.js";
import {
  assertHappened,
  type Harness,
  type HarnessContext,
  HarnessFailure,
  withStores,
} from "./support/harness.js";
import { overloadQueue } from "./support/overload-here.js";
import { chartRequests, overloadMix, searchRequests } from "./support/overload-load.js";

const ROUNDS = 10;
const SECONDS = 5;
const CLIENTS = 16;
const TIMES = 3;
const CONNECTIONS = 1_500;
const ACCOUNTS = 20;
/** A quarter of the time in which a response is of use. */
const MOST_LATE_MS = 250;

/** Limits on rates that nobody reaches; what protects the service from overload is as it is installed. */
const SETTINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(GENEROUS_LIMITS).filter(([name]) => name.includes("_LIMIT_"))),
  ...limits("embed=1000000"),
  SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
  SIDEREAL_CACHE_MB: "1",
};

export const overload: Harness = {
  name: "overload",
  hasEngines: true,
  proves:
    "At three times its capacity the service computes nearly as much in time as at its capacity; health checks, cached responses and callers with a key are served first.",
  run: (context) => (context.scale === "short" ? overloadQueue() : measure(context)),
};

async function measure(context: HarnessContext): Promise<ResultRow[]> {
  return withStores(context, async (place, engine) => {
    const store = await prepareStore({ engine, size: 100_000, days: 7 }, place, context.report);
    const rows = await measureStore(context, store);
    return rows.map((row) => ({ ...row, engine }));
  });
}

async function measureStore(context: HarnessContext, store: Store): Promise<ResultRow[]> {
  const copy = await copyStore(store);
  try {
    const keys = await addKeys(copy, ACCOUNTS);
    const server = await startSidereal(copy, SETTINGS);
    try {
      const rows = await measureRounds(context, server, overloadMix(store, keys));
      return [...rows, ...(await measureStalls(context, server, store))];
    } finally {
      await server.stop();
    }
  } finally {
    await copy.remove();
  }
}

const KINDS = ["health", "cached", "key", "address"] as const;
type Kind = (typeof KINDS)[number];

const timelyOf = ({ timely }: LoadReport, kind: string): Timely =>
  timely[kind] ?? { count: 0, inTime: 0, refused: 0, p99: 0 };

/** Responses per second that were computed, and came in time. */
const computedPerSecond = (report: LoadReport, seconds: number) =>
  (timelyOf(report, "key").inTime + timelyOf(report, "address").inTime) / seconds;

async function measureRounds(
  { report }: HarnessContext,
  server: MeasuredServer,
  requests: readonly LoadRequest[],
): Promise<ResultRow[]> {
  const load = { requests, mayFail: true };
  // A server that has just started compiles its code and builds its index.
  await runLoad(server, load, { clients: CLIENTS, seconds: 3 * SECONDS });
  const peaks: number[] = [];
  const goodputs: number[] = [];
  const succeeded: Record<Kind, number[]> = { health: [], cached: [], key: [], address: [] };
  const p99s: Record<Kind, number[]> = { health: [], cached: [], key: [], address: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    const atPeak = await runLoad(server, load, { clients: CLIENTS, seconds: SECONDS });
    const peak = computedPerSecond(atPeak, SECONDS);
    assertHappened(peak, "responses per second at peak", 10);
    const rate = Math.round(atPeak.perSecond * TIMES);
    const over = await runLoad(server, load, { rate, connections: CONNECTIONS, seconds: SECONDS });
    if (over.lateMs > MOST_LATE_MS)
      throw new HarnessFailure(
        `requests were sent ${over.lateMs.toFixed(0)} ms late: the sender got too little time`,
      );
    const goodput = computedPerSecond(over, SECONDS);
    assertHappened(timelyOf(over, "address").refused, "refused requests", 100);
    peaks.push(peak);
    goodputs.push(goodput);
    for (const kind of KINDS) {
      const { inTime, count, p99 } = timelyOf(over, kind);
      succeeded[kind].push((100 * inTime) / count);
      p99s[kind].push(p99);
    }
    const parts = KINDS.map((kind) => `${kind} ${JSON.stringify(timelyOf(over, kind))}`).join(", ");
    report(
      `round ${round}: peak ${peak.toFixed(0)}/s, ${rate}/s sent ${over.lateMs.toFixed(1)} ms late, computed in time ${goodput.toFixed(0)}/s (${((100 * goodput) / peak).toFixed(0)} %), ${over.cpuMs?.toFixed(2)} ms of CPU each; ${parts}`,
    );
  }
  const goodput = ratioRow(
    { measure: `computed in time at ${TIMES} × the capacity`, unit: "responses/s" },
    goodputs,
    {
      name: "at capacity",
      values: peaks,
    },
  );
  const worst = Math.min(...goodputs.map((value, round) => (100 * value) / (peaks[round] ?? 1)));
  const success = (name: string) => ({ measure: `${name}, succeeded in time`, unit: "%" });
  return [
    goodput,
    absoluteRow({ measure: "the same, worst of ten rounds", unit: "%", target: { atLeast: 80 } }, [worst]),
    absoluteRow({ ...success("health checks"), target: { atLeast: 99 } }, succeeded.health),
    absoluteRow({ ...success("cached responses"), target: { atLeast: 99 } }, succeeded.cached),
    absoluteRow({ ...success("callers with a key"), target: { atLeast: 99 } }, succeeded.key),
    absoluteRow(success("other callers"), succeeded.address),
    absoluteRow({ measure: "health checks, p99", unit: "ms", target: { atMost: 100 } }, p99s.health),
    absoluteRow({ measure: "cached responses, p99", unit: "ms", target: { atMost: 100 } }, p99s.cached),
    absoluteRow({ measure: "callers with a key, p99", unit: "ms" }, p99s.key),
    absoluteRow({ measure: "other callers, p99 of what succeeded", unit: "ms" }, p99s.address),
  ];
}

/** One in HEALTH_SHARE requests is a health check. One process sends all, as two would take the time of their core from each other. */
const HEALTH_SHARE = 10;

/** Health checks while one address sends many expensive requests at the same time. */
async function measureStalls(
  { report }: HarnessContext,
  server: MeasuredServer,
  store: Store,
): Promise<ResultRow[]> {
  const attacks = [
    { name: "charts over 250 connections", requests: chartRequests(store), connections: 250 },
    { name: "searches over 60 connections", requests: searchRequests(), connections: 60 },
  ];
  const rows: ResultRow[] = [];
  for (const { name, requests, connections } of attacks) {
    const health = { kind: "health", path: "/healthz" };
    const headers = { "X-Forwarded-For": "10.9.9.9" };
    const mixed = requests.flatMap((one, i) => {
      const attack = { ...one, kind: "attack", headers };
      return i % HEALTH_SHARE === 0 ? [attack, health] : [attack];
    });
    const sent = await runLoad(
      server,
      { requests: mixed, mayFail: true },
      { rate: 2 * connections, connections, seconds: 2 * SECONDS },
    );
    report(`${name}: sent ${sent.lateMs.toFixed(1)} ms late, ${JSON.stringify(sent.timely)}`);
    const { inTime, p99 } = timelyOf(sent, "attack");
    assertHappened(inTime, name, 10);
    const note = `${(inTime / (2 * SECONDS)).toFixed(0)} computed per second, p99 ${p99.toFixed(0)} ms`;
    rows.push(
      absoluteRow(
        { measure: `health checks beside ${name}, p99`, unit: "ms", target: { atMost: 100 }, note },
        [sent.kinds.health?.p99 ?? Number.NaN],
      ),
    );
  }
  return rows;
}
