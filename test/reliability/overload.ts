import { addKeys, GENEROUS_LIMITS } from "../../bench/support/keys.js";
import type { LoadReport, LoadRequest, Timely } from "../../bench/support/load.js";
import { type MixRequest, mixOf } from "../../bench/support/mix.js";
import { type MeasuredServer, startSidereal } from "../../bench/support/processes.js";
import { absoluteRow, type ResultRow, ratioRow } from "../../bench/support/results.js";
import { runLoad } from "../../bench/support/run-load.js";
import { copyStore, generatorOptions, prepareStore, type Store } from "../../bench/support/stores.js";
import { TOPICS } from "../../bench/synthetic/vocabulary.js";
import { OVERLOADED, type Priority, RunQueue } from "../../src/http/limits.js";
import { limits } from "../support/limits.js";
import { ManualClock } from "../support/manual-clock.js";
import {
  assertHappened,
  type Harness,
  type HarnessContext,
  HarnessFailure,
  withStores,
} from "./support/harness.js";

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

/** Requests of one pass: each has an address of its own, so that none of them reaches its limits. */
const COUNT = 20_000;

/** The address of the i-th caller, as a trusted proxy names it. */
const addressOf = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

/** A response that is requested so often that it stays cached. */
const CACHED_PATH = "/api/repos?sort=stars";

/**
 * The mix without its repetitions, so that a small cache holds none of it, from callers with different addresses. One in ten
 * requests has an API key, one in ten is for a cached response, and one in ten is a health check.
 */
function overloadMix(store: Store, keys: readonly string[]): LoadRequest[] {
  const known = new Map<string, MixRequest>();
  for (const request of mixOf(generatorOptions(store))) if (!request.turns) known.set(request.path, request);
  const paths = [...known.keys()];
  // Pages do not read keys.
  const ofApi = paths.filter((path) => path.startsWith("/api/"));
  return Array.from({ length: COUNT }, (_, i): LoadRequest => {
    const headers = { "X-Forwarded-For": addressOf(i) };
    if (i % 10 === 0) return { kind: "health", path: "/healthz", headers };
    if (i % 10 === 1) return { kind: "cached", path: CACHED_PATH, headers };
    if (i % 10 > 2) return { kind: "address", path: paths[i % paths.length] ?? "/", headers };
    const key = keys[Math.floor(i / 10) % keys.length] ?? "";
    return {
      kind: "key",
      path: ofApi[i % ofApi.length] ?? "/api/repos",
      headers: { ...headers, "X-API-Key": key },
    };
  });
}

/** Charts of six repositories, all different. */
function chartRequests(store: Store): LoadRequest[] {
  const names = mixOf(generatorOptions(store)).flatMap(({ kind, path }) => {
    const [, , , provider, owner, name] = path.split("/");
    return kind === "detail" ? [`${provider}:${owner}/${name}`] : [];
  });
  return names.map((_, i) => {
    const six = Array.from({ length: 6 }, (_, j) => names[(i + j * j * 7 + j) % names.length] ?? "");
    return {
      kind: "chart",
      path: `/api/embed/chart.svg?window=all&${six.map((one) => `repo=${one}`).join("&")}`,
    };
  });
}

/** Searches that match many repositories, sorted by another order and filtered by topics. */
function searchRequests(): LoadRequest[] {
  const letters = [..."abcdefghijklmnoprstuvw"];
  return letters.flatMap((one, i) =>
    letters.map((other, j) => {
      const topics = [0, 1, 2].map((k) => `topic=${encodeURIComponent(TOPICS[(i + j + k) % 30] ?? "")}`);
      const query = `q=${one}+${other}&sort=rising&order=asc&limit=100&${j % 2 === 0 ? topics.join("&") : "page=100"}`;
      return { kind: "search", path: `/api/repos?${query}` };
    }),
  );
}

/** Time that computing one response takes, in ms of the manual clock; all of it passes in its turn, as on SQLite. */
const COST_MS = 2;
const TURNS = 1_500;
/** Requests that arrive while one is computed. */
const ARRIVALS = 3;
const PATIENCE_MS = 500;
const DEADLINE_MS = 1_000;

interface Sent {
  priority: Priority;
  at: number;
  /** When its response was computed; undefined: it was refused. */
  endedAt?: number;
}

/** Sends three times as many requests to the queue of the service as it can compute, in the time of a manual clock. */
async function overloadQueue(): Promise<ResultRow[]> {
  const clock = new ManualClock(0);
  const queue = new RunQueue({ maxRunning: 8, bounds: { length: 400, patienceMs: PATIENCE_MS }, clock });
  const sent: Sent[] = [];
  const refusals: Promise<unknown>[] = [];
  const send = () => {
    const priority = sent.length % 10 === 0 ? "account" : "anonymous";
    const one: Sent = { priority, at: clock.monotonic() };
    const waiter = { priority, caller: `caller ${sent.length}`, isGone: () => false } as const;
    sent.push(one);
    const { result } = queue.add(waiter, async () => {
      clock.advance(COST_MS);
      one.endedAt = clock.monotonic();
    });
    refusals.push(
      result.then(
        () => false,
        (error: unknown) => error === OVERLOADED,
      ),
    );
  };
  for (let turn = 0; turn < TURNS; turn++) {
    for (let i = 0; i < ARRIVALS; i++) send();
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (queue.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
  const refused = (await Promise.all(refusals)).filter(Boolean).length;
  assertHappened(refused, "refused requests", TURNS);
  const inTime = sent.filter(({ at, endedAt }) => endedAt !== undefined && endedAt - at <= DEADLINE_MS);
  const late = sent.length - refused - inTime.length;
  const shareOf = (wanted: Priority) =>
    (100 * inTime.filter(({ priority }) => priority === wanted).length) /
    sent.filter(({ priority }) => priority === wanted).length;
  return [
    absoluteRow(
      { measure: "computed in time, of what can be computed", unit: "%", target: { atLeast: 99 } },
      [(100 * inTime.length * COST_MS) / clock.monotonic()],
    ),
    absoluteRow({ measure: "computed too late", unit: "responses", target: { atMost: 0 } }, [late]),
    absoluteRow({ measure: "callers with an account, in time", unit: "%", target: { atLeast: 100 } }, [
      shareOf("account"),
    ]),
    absoluteRow({ measure: "other callers, in time", unit: "%" }, [shareOf("anonymous")]),
  ];
}
