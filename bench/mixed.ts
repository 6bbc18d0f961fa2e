/**
 * The mix of requests against one `serve` process: CPU time per response, latency at a constant rate, responses per second at
 * peak, with the response cache off and on; the time until the first response, and the memory after the mix.
 */
import { request } from "undici";
import { BARE, recordResponse, startBare } from "./support/bare-http.js";
import { GENEROUS_LIMITS } from "./support/keys.js";
import { type MixRequest, mixOf, resolveMix } from "./support/mix.js";
import { type MeasuredServer, startSidereal } from "./support/processes.js";
import { absoluteRow, atMost, type BenchContext, type ResultRow } from "./support/results.js";
import { runLoad, type ServerLoadReport, steadyRate } from "./support/run-load.js";
import { quantile } from "./support/statistics.js";
import { generatorOptions } from "./support/stores.js";

/** Most CPU time of a response, in ms. */
const MOST_MS: Readonly<Record<string, readonly [number, number, number]>> = {
  page: [8, 8, 12],
  detail: [1, 1, 2],
};
/** The same of all other kinds. */
const MOST_OTHER_MS = [2, 2, 6] as const;
const CLIENTS = 8;
/** Passes over the mix before the first measured one: a server that has run for a minute has compiled its code. */
const WARM_UP = 2;

/** A response of the usual size. */
const LIST = "/api/repos?sort=stars";

const short = (value: number) => value.toPrecision(3);

export async function measureMix(context: BenchContext): Promise<ResultRow[]> {
  const { store, report } = context;
  const rows = [...(await measureStart(context))];
  const uncached = await startSidereal(store, { ...GENEROUS_LIMITS, SIDEREAL_CACHE_MB: "0" });
  let mix: MixRequest[];
  try {
    mix = await resolveMix(uncached.url, mixOf(generatorOptions(store)));
    report("the mix is resolved");
    await warmUp(uncached, mix);
    rows.push(...cpuRows(context, await sendAll(uncached, mix)));
    report("CPU time of each request is measured");
    rows.push(...(await loadRows(context, { server: uncached, mix, cache: "cache off" })));
  } finally {
    await uncached.stop();
  }
  const cached = await startSidereal(store, GENEROUS_LIMITS);
  try {
    await warmUp(cached, mix);
    rows.push(...(await loadRows(context, { server: cached, mix, cache: "cache on" })));
    const resident = cached.residentBytes();
    if (resident !== undefined)
      rows.push(
        absoluteRow(
          {
            measure: "memory of the `serve` processes after the mix",
            unit: "MB",
            store,
            target: atMost(store, [130, 230, 680]),
          },
          [resident / 1e6],
        ),
      );
  } finally {
    await cached.stop();
  }
  return rows;
}

/** From the start of the process until its lists are complete, and the CPU time until then. */
async function measureStart({ store, rounds }: BenchContext): Promise<ResultRow[]> {
  const seconds: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const server = await startSidereal(store, GENEROUS_LIMITS);
    seconds.push((performance.now() - began) / 1_000);
    cpu.push((server.threadCpuMs() ?? 0) / 1_000);
    await server.stop();
  }
  const measure = "start to lists complete";
  const times = store.engine === "sqlite" ? 1 : 2;
  return [
    absoluteRow(
      { measure, unit: "s", store, target: atMost(store, [0.5 * times, 3 * times, 26 * times]) },
      seconds,
    ),
    ...(cpu.includes(0) ? [] : [absoluteRow({ measure: `${measure}, CPU time`, unit: "s", store }, cpu)]),
  ];
}

async function fetchOk(url: string): Promise<void> {
  const { statusCode, body } = await request(url);
  await body.dump({ limit: 2 ** 30 });
  if (statusCode >= 400) throw new Error(`${url} returned ${statusCode}`);
}

/** Sends all requests one after the other; returns the CPU time of the server for each, in ms by kind. */
async function sendAll(server: MeasuredServer, mix: readonly MixRequest[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (const { kind, path } of mix) {
    const before = await server.restingCpuMs();
    await fetchOk(`${server.url}${path}`);
    const after = await server.restingCpuMs();
    if (before === undefined || after === undefined) continue;
    const group = times.get(kind) ?? [];
    group.push(after - before);
    times.set(kind, group);
  }
  return times;
}

async function warmUp(server: MeasuredServer, mix: readonly MixRequest[]): Promise<void> {
  for (let pass = 0; pass < WARM_UP; pass++) await sendAll(server, mix);
}

function cpuRows({ store }: BenchContext, times: ReadonlyMap<string, number[]>): ResultRow[] {
  return [...times].map(([kind, values]) => ({
    measure: `${kind}, p99 of the server's CPU time per response, cache off`,
    unit: "ms",
    size: store.size,
    engine: store.engine,
    value: quantile(values, 0.99),
    target: atMost(store, MOST_MS[kind] ?? MOST_OTHER_MS),
    note: `median ${short(quantile(values, 0.5))}`,
  }));
}

interface Loaded {
  server: MeasuredServer;
  mix: readonly MixRequest[];
  cache: string;
}

async function loadRows(context: BenchContext, { server, mix, cache }: Loaded): Promise<ResultRow[]> {
  const { store, seconds, rounds, report } = context;
  const peaks: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const peak = await runLoad(server, { requests: mix }, { clients: CLIENTS, seconds });
    peaks.push(peak.perSecond);
  }
  const rate = steadyRate(quantile(peaks, 0.5));
  const load = { rate, seconds: seconds * 3 };
  const steady = await runLoad(server, { requests: mix }, load);
  const bare = await loadBare(server, load);
  report(
    `${cache}: ${rate} requests/s, p99 ${short(steady.all.p99)} ms, sent ${short(steady.lateMs)} ms late`,
  );
  const about = `at ${rate} requests/s, ${cache}`;
  const kinds = Object.entries(steady.kinds).map(([kind, { p50, p99, p999 }]) => ({
    measure: `${kind}, p99 latency at a constant rate, ${cache}`,
    unit: "ms",
    size: store.size,
    engine: store.engine,
    value: p99,
    target: atMost(store, MOST_MS[kind] ?? MOST_OTHER_MS),
    note: `median ${short(p50)}, p99.9 ${short(p999)}, ${rate} requests/s`,
  }));
  const cpu = steady.cpuMs === undefined ? "" : `, ${short(steady.cpuMs)} ms CPU per response`;
  return [
    absoluteRow({ measure: `mix at peak, ${cache}`, unit: "requests/s", store }, peaks),
    {
      measure: `mix, p99 latency at a constant rate, ${cache}`,
      unit: "ms",
      size: store.size,
      engine: store.engine,
      value: steady.all.p99,
      note: `median ${short(steady.all.p50)}, p99.9 ${short(steady.all.p999)}, ${about}${cpu}; sent ${short(steady.lateMs)} ms late`,
      baseline: { name: BARE, value: bare.all.p99 },
    },
    ...kinds,
  ];
}

/** The same load on a server that computes nothing: what the machine and the sender add. */
async function loadBare(
  server: MeasuredServer,
  load: { rate: number; seconds: number },
): Promise<ServerLoadReport> {
  const bare = await startBare(await recordResponse(server, LIST));
  try {
    return await runLoad(bare, { requests: [{ kind: "list", path: LIST }] }, load);
  } finally {
    await bare.stop();
  }
}
