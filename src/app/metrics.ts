/** Metrics of every process: which program it is, whether its database and Redis respond, backups, and readings of forges. */

import { statfs } from "node:fs/promises";
import { METRICS_PORTS } from "../config/config.js";
import type { PoolState } from "../database/database.js";
import { type Admission, addTraffic, type Front, type HttpServer } from "../http/http.js";
import type { Metrics, MetricsServer, MetricValue } from "../lib/metrics.js";
import { readBuild } from "../lib/version.js";
import type { AppContext, Modules } from "../modules.js";
import { readReports } from "../tracking/tracking.js";
import { readBackupNote } from "../transfer/transfer.js";

/** How long the database may take to count as available. */
const PATIENCE_MS = 2_000;

/** Opens the port of metrics; undefined if none is configured. `addOwn` adds the metrics of this kind of process. */
export async function openMetrics(
  context: AppContext,
  modules: Modules,
  { kind, addOwn }: { kind: (typeof KINDS)[number]; addOwn: (metrics: Metrics) => void },
): Promise<MetricsServer | undefined> {
  const { config, log } = context;
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return undefined;
  // Most instances have no such port.
  const { Metrics, serveMetrics } = await import("../lib/metrics.js");
  const metrics = new Metrics();
  addCommon(metrics, context, modules);
  addOwn(metrics);
  return serveMetrics(metrics, { host, ports: portsOf(kind, port), log });
}

const KINDS = ["service", "worker"] as const;

/** The first is the same whichever kind of process starts first; further processes of a kind on the machine take the others. */
function portsOf(kind: (typeof KINDS)[number], port: number): number[] {
  if (port === 0) return [0];
  const all = Array.from({ length: METRICS_PORTS / KINDS.length }, (_, i) => port + i * KINDS.length);
  return all.map((one) => one + KINDS.indexOf(kind)).filter((one) => one <= 65_535);
}

function freeBytes(folder: string): Promise<number | null> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}

function addCommon(metrics: Metrics, { config, clock }: AppContext, modules: Modules): void {
  const { database, catalog, redis } = modules;
  const { version, commit } = readBuild();
  const build: MetricValue[] = [[1, { version, commit: commit ?? "unknown", node: process.version }]];
  metrics.add("build_info", "The version that runs, as labels. Always 1.", () => build);
  const state: { isUp: boolean; backupAt: number | null; free: number | null } = {
    isUp: false,
    backupAt: null,
    free: null,
  };
  let readings: MetricValue[] = [];
  let reported: MetricValue[] = [];
  let failing: MetricValue[] = [];
  metrics.beforeRead(async () => {
    const note = await readBackupNote(config.dataDir);
    state.backupAt = note === null ? null : note.takenAt / 1_000;
    state.free = await freeBytes(config.dataDir);
    const patience = new AbortController();
    const reading = catalog.revision().then(() => readReports(database.read));
    const reports = await Promise.race([
      reading.catch(() => undefined),
      clock.sleep(PATIENCE_MS, patience.signal).then(() => undefined),
    ]);
    patience.abort();
    state.isUp = reports !== undefined;
    readings = [];
    reported = [];
    failing = [];
    for (const [provider, { at, report }] of reports ?? []) {
      reported.push([at / 1_000, { provider }]);
      if (report.lastSuccessAt !== null) readings.push([report.lastSuccessAt / 1_000, { provider }]);
      if (report.failing !== null) failing.push([report.failing.since / 1_000, { provider }]);
    }
  });
  metrics.add("database_up", "Whether the database responds: 1 or 0.", () => Number(state.isUp));
  const pools = (count: (pool: PoolState) => number) =>
    database.pools().map((pool): MetricValue => [count(pool), { pool: pool.name }]);
  const open = "Open connections to PostgreSQL, by pool.";
  metrics.add("database_pool_connections", open, () => pools((pool) => pool.open));
  const idle = "Open connections to PostgreSQL that nothing uses, by pool.";
  metrics.add("database_pool_idle", idle, () => pools((pool) => pool.idle));
  const waiting = "Statements and transactions that wait for a connection to PostgreSQL, by pool.";
  metrics.add("database_pool_waiting", waiting, () => pools((pool) => pool.waiting));
  const redisHelp = "Whether Redis is connected: 1 or 0. Absent if none is configured.";
  metrics.add("redis_up", redisHelp, () => (redis === undefined ? null : Number(redis.isConnected)));
  const free = "Free space on the disk of the data folder. Absent without that folder.";
  metrics.add("disk_free_bytes", free, () => state.free);
  const backup =
    "When the command backup last took one on this machine, in seconds since 1970. Absent if it has not.";
  metrics.add("last_backup_timestamp_seconds", backup, () => state.backupAt);
  const reading =
    "When a forge last responded as it should, in seconds since 1970, as the active worker reports.";
  metrics.add("last_reading_timestamp_seconds", reading, () => readings);
  const failed =
    "Since when the calls of a forge fail, in seconds since 1970, as the active worker reports. Absent if they do not.";
  metrics.add("failing_since_timestamp_seconds", failed, () => failing);
  const report = "When the active worker last reported about a forge, in seconds since 1970.";
  metrics.add("last_report_timestamp_seconds", report, () => reported);
}

/** The sources of metrics in a process that serves. */
interface Serving {
  isLoaded: () => boolean;
  front: Front;
  admission: Admission;
  server: HttpServer;
}

/** Adds the metrics of a process that serves. */
export function addServing(metrics: Metrics, { isLoaded, front, admission, server }: Serving): void {
  addTraffic(metrics, front.traffic);
  const refused =
    "Requests over a limit by its bucket, requests refused in an overload, and connections that were reset.";
  metrics.add("http_refusals_total", refused, () => [
    ...[...admission.refusals].map(([reason, count]): MetricValue => [count, { reason }]),
    [server.refusedConnections(), { reason: "connections" }],
  ]);
  const open = "Open connections of clients.";
  metrics.add("http_connections", open, () => server.connections());
  metrics.add("cache_hits_total", "Requests that got a cached response.", () => front.cache.state.hits);
  const misses = "Requests for a response that may be cached and was not.";
  metrics.add("cache_misses_total", misses, () => front.cache.state.misses);
  metrics.add("cache_bytes", "Memory of cached responses.", () => front.cache.state.bytes);
  const loaded = "Whether the catalogue is in memory: 1 or 0. Until then lists respond 503.";
  metrics.add("catalogue_loaded", loaded, () => Number(isLoaded()));
  metrics.add("queue_waiting", "Responses that wait to be computed.", () => admission.computing.waiting);
  metrics.add("queue_running", "Responses that are being computed.", () => admission.computing.running);
}
