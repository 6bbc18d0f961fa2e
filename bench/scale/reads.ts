/**
 * The reads that people make, on each engine with the same rows: one `serve` process for each, the response cache off. Engines take
 * turns, in reverse order every other round, and every request is sent to all of them, one at a time.
 */
import { request } from "undici";
import { addKeys, GENEROUS_LIMITS } from "../support/keys.js";
import { listMixOf, type MixKind, mixOf } from "../support/mix.js";
import type { MeasuredServer } from "../support/processes.js";
import { interleave, quantile } from "../support/statistics.js";
import { generatorOptions } from "../support/stores.js";
import { startIndexed } from "./indexed-server.js";
import type { ScaleEngine, ScaleStore } from "./scale-store.js";

/** A read: some addresses, of which the next few are requested in each round. */
interface Read {
  name: string;
  paths: readonly string[];
  perRound: number;
}

/** One row of the result: latencies in ms, and CPU time of the `serve` process per response in ms. */
export interface ReadRow {
  read: string;
  engine: ScaleEngine;
  count: number;
  p50: number;
  p99: number;
  cpu: number;
  /** Median of the rounds of this engine's median divided by that of the first engine. */
  ratio: number;
}

export interface ReadOptions {
  rounds: number;
  report: (line: string) => void;
}

const WINDOWS = ["24h", "7d", "30d"];
const PAGES = 20;
const PER_ROUND = 40;
/** About 10,000 repositories of the generator have as many stars. */
const STREAMED = "/api/repos.ndjson?minStars=2500&sort=stars";
const SETTINGS = { ...GENEROUS_LIMITS, SIDEREAL_CACHE_MB: "0" };

export async function measureReads(
  stores: readonly ScaleStore[],
  { rounds, report }: ReadOptions,
): Promise<ReadRow[]> {
  const servers = new Map<ScaleEngine, { server: MeasuredServer; key: string }>();
  try {
    for (const store of stores) {
      const [key = ""] = await addKeys(store, 1);
      const began = performance.now();
      const server = await startIndexed(store, SETTINGS);
      servers.set(store.name, { server, key });
      report(
        `${store.name}: started with the list index in ${Math.round(performance.now() - began)} ms; memory ${megabytes(server)} MB`,
      );
    }
    const [first] = stores;
    if (first === undefined) throw new Error("there is no store to read");
    const rows: ReadRow[] = [];
    for (const read of readsOf(first)) {
      const measured = await measure(read, servers, rounds);
      rows.push(...measured);
      for (const row of measured) report(lineOf(row));
    }
    for (const [name, { server }] of servers)
      report(`${name}: memory of serve after the reads ${megabytes(server)} MB`);
    return rows;
  } finally {
    for (const { server } of servers.values()) await server.stop();
  }
}

const megabytes = (server: MeasuredServer) => Math.round((server.residentBytes() ?? 0) / 1e6);
const lineOf = ({ read, engine, p50, p99, cpu, ratio, count }: ReadRow) =>
  `${read}, ${engine}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, CPU of serve ${cpu.toFixed(2)} ms, ratio ${ratio.toFixed(2)} (${count} requests)`;

function readsOf(store: ScaleStore): Read[] {
  const options = generatorOptions(store);
  const mix = mixOf(options).filter(({ turns }) => turns === undefined);
  const of = (kind: MixKind) => mix.filter((one) => one.kind === kind).map(({ path }) => path);
  const gains = WINDOWS.flatMap((window) =>
    Array.from(
      { length: PAGES },
      (_, page) => `/api/repos?sort=stars-gained&window=${window}&page=${page + 1}`,
    ),
  );
  const lists = listMixOf(options).filter(
    ({ turns, query }) => turns === undefined && query.split("&").length > 2,
  );
  const ids = of("series").map((path) => path.split("?")[0]);
  const names = of("detail").map((path) => path.slice("/api/repos/".length));
  const read = (name: string, paths: readonly string[], perRound = PER_ROUND): Read => ({
    name,
    paths,
    perRound,
  });
  return [
    read("list by gains", gains),
    read(
      "list with filters",
      lists.map(({ query }) => `/api/repos?${query}`),
    ),
    read("search", of("search")),
    read("suggestions", of("suggest")),
    read("repository", of("detail")),
    read(
      "series of 90 days",
      ids.map((path) => `${path}?window=90d`),
    ),
    read(
      "series of all days",
      ids.map((path) => `${path}?window=all`),
    ),
    read(
      "past ranks",
      ids.map((path) => path?.replace("/metrics", "/ranks") ?? ""),
    ),
    read("first page as data", ["/api/home"]),
    read("facets", [
      "/api/facets/languages",
      "/api/facets/topics?limit=100",
      "/api/facets/topics?sort=stars-gained",
    ]),
    read(
      "data of a chart",
      names.map((name) => `/api/embed/chart?repo=${name.replace("/", ":")}&window=90d`),
    ),
    read("pages", of("page")),
    read("stream of about 10,000 rows", [STREAMED], 2),
  ];
}

async function measure(
  { name: read, paths, perRound }: Read,
  servers: ReadonlyMap<ScaleEngine, { server: MeasuredServer; key: string }>,
  rounds: number,
): Promise<ReadRow[]> {
  const engines = [...servers.keys()];
  const times = new Map<ScaleEngine, number[]>(engines.map((engine) => [engine, []]));
  const cpu = new Map<ScaleEngine, number>();
  const sendRound = async (engine: ScaleEngine, round: number): Promise<number> => {
    const { server, key } = servers.get(engine) ?? {};
    if (server === undefined) throw new Error(`${engine} does not run`);
    const own: number[] = [];
    const before = server.threadCpuMs() ?? 0;
    for (let i = 0; i < perRound; i++) {
      const path = paths[(round * perRound + i) % paths.length] ?? "";
      const began = performance.now();
      const { statusCode, body } = await request(server.url + path, { headers: { "x-api-key": key ?? "" } });
      await body.dump({ limit: 2 ** 30 });
      own.push(performance.now() - began);
      if (statusCode !== 200 && statusCode !== 404)
        throw new Error(`${engine}: ${path} returned ${statusCode}`);
    }
    // The first rounds compile the code.
    if (round < 2) return quantile(own, 0.5);
    cpu.set(engine, (cpu.get(engine) ?? 0) + (server.threadCpuMs() ?? 0) - before);
    times.get(engine)?.push(...own);
    return quantile(own, 0.5);
  };
  const contestants = Object.fromEntries(
    engines.map((engine) => [engine, (round: number) => sendRound(engine, round)]),
  );
  const medians = await interleave(rounds + 2, contestants);
  return engines.map((engine) => {
    const own = times.get(engine) ?? [];
    const baseline = medians[engines[0] ?? ""] ?? [];
    const ratios = (medians[engine] ?? [])
      .slice(2)
      .map((value, i) => value / (baseline[i + 2] ?? Number.NaN));
    return {
      read,
      engine,
      count: own.length,
      p50: quantile(own, 0.5),
      p99: quantile(own, 0.99),
      cpu: (cpu.get(engine) ?? 0) / own.length,
      ratio: quantile(ratios, 0.5),
    };
  });
}
