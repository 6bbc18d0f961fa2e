/**
 * Responses a second and latency with 1, 2 and 3 `serve` processes on one PostgreSQL database, which get the requests alternately: lists
 * of the mix, cached and not. Nothing is pinned: the processes, the database and the sender share all cores of the machine, and the
 * CPU time of each says which of them is the limit.
 */
import { readdirSync, readFileSync } from "node:fs";
import { GENEROUS_LIMITS } from "../support/keys.js";
import { listMixOf } from "../support/mix.js";
import type { MeasuredServer } from "../support/processes.js";
import { runLoad } from "../support/run-load.js";
import { middle, quantile } from "../support/statistics.js";
import { generatorOptions } from "../support/stores.js";
import { startIndexed } from "./indexed-server.js";
import type { ScaleStore } from "./scale-store.js";

const COUNTS = [1, 2, 3];
const CLIENTS = 32;
/** Different lists, all of which fit into the cache. */
const LISTS = 1_000;
/** The constant rate, as a share of what one process can. */
const RATE_SHARE = 0.5;
const TICKS_PER_SECOND = 100;

export interface ProcessOptions {
  rounds: number;
  /** Of each run of load. */
  seconds: number;
  report: (line: string) => void;
}

export async function measureProcesses(store: ScaleStore, options: ProcessOptions): Promise<void> {
  for (const cache of ["0", "64"]) {
    const settings = { ...GENEROUS_LIMITS, SIDEREAL_CACHE_MB: cache };
    const servers: MeasuredServer[] = [];
    try {
      for (const _ of COUNTS) servers.push(await startIndexed(store, settings));
      await measureCounts({ store, servers, cache: cache === "0" ? "uncached" : "cached" }, options);
    } finally {
      for (const server of servers) await server.stop();
    }
  }
}

interface Measured {
  store: ScaleStore;
  servers: readonly MeasuredServer[];
  cache: string;
}

async function measureCounts(
  { store, servers, cache }: Measured,
  { rounds, seconds, report }: ProcessOptions,
): Promise<void> {
  const requests = listMixOf(generatorOptions(store))
    .filter(({ turns }) => turns === undefined)
    .slice(0, LISTS)
    .map(({ query }) => ({ kind: "list", path: `/api/repos?${query}` }));
  const run = async (count: number, mode: { clients: number } | { rate: number }) => {
    const [first, ...others] = servers.slice(0, count);
    if (first === undefined) throw new Error("there is no process");
    return runLoad(first, { requests, others }, { ...mode, seconds });
  };
  // Compiles the code, and fills the caches.
  for (const server of servers)
    await runLoad(server, { requests, others: [] }, { clients: CLIENTS, seconds });
  const peaks = new Map(COUNTS.map((count) => [count, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
      const before = databaseCpuSeconds();
      const peak = await run(count, { clients: CLIENTS });
      const database = (databaseCpuSeconds() - before) / (seconds + 1);
      peaks.get(count)?.push(peak.perSecond);
      report(
        `${cache}, ${count} processes at peak: ${peak.perSecond.toFixed(0)} responses/s, p50 ${peak.all.p50.toFixed(2)} ms, p99 ${peak.all.p99.toFixed(2)} ms; CPU of serve ${peak.cpuMs?.toFixed(2)} ms a response, PostgreSQL ${database.toFixed(2)} cores`,
      );
    }
  }
  const single = quantile(peaks.get(1) ?? [], 0.5);
  for (const count of COUNTS) {
    const { median, low, high } = middle(peaks.get(count) ?? []);
    report(
      `${cache}, ${count} processes at peak, ${rounds} rounds: ${median.toFixed(0)} responses/s (${low.toFixed(0)} to ${high.toFixed(0)}), ${(median / single).toFixed(2)} times one process`,
    );
  }
  const rate = Math.max(1, Math.floor(single * RATE_SHARE));
  for (const count of COUNTS) {
    const steady = await run(count, { rate });
    report(
      `${cache}, ${count} processes at ${rate} requests/s: p50 ${steady.all.p50.toFixed(2)} ms, p99 ${steady.all.p99.toFixed(2)} ms, sent ${steady.lateMs.toFixed(2)} ms late`,
    );
  }
}

/** CPU time so far of all processes named `postgres` on this machine; 0 where the system does not tell. */
function databaseCpuSeconds(): number {
  if (process.platform !== "linux") return 0;
  let ticks = 0;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const [, name, rest = ""] =
        /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${entry}/stat`, "utf8")) ?? [];
      const fields = rest.split(" ");
      if (name === "postgres") ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended.
    }
  }
  return ticks / TICKS_PER_SECOND;
}
