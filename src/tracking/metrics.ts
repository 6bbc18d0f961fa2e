import { createServer, type Server } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { FAILURE_KINDS } from "../providers/providers.js";
import type { Reporter } from "./report.js";
import { readStatus } from "./status.js";

/** Where a worker tells Prometheus what it does. */
export interface Metrics {
  port: number;
  close(): Promise<void>;
}

/** Answers `GET /metrics` on a port of its own. Everything is read when it is asked for. */
export async function serveMetrics(
  { database, clock }: { database: Database; clock: Clock },
  reporters: ReadonlyMap<string, Reporter>,
  { host, port }: { host: string; port: number },
): Promise<Metrics> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const readAgain = registerStatus(registry, database, clock);
  registerReports(registry, reporters);
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("see /metrics\n");
      return;
    }
    readAgain()
      .then(() => registry.metrics())
      .then(
        (text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text),
        () =>
          response.writeHead(500, { "Content-Type": "text/plain" }).end("the metrics could not be read\n"),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return { port: portOf(server), close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Returns what reads the status anew, which must be over before anything is told. */
function registerStatus(registry: Registry, database: Database, clock: Clock): () => Promise<void> {
  const gauge = (name: string, help: string, labels: string[] = ["provider"]) =>
    new Gauge({ name: `sidereal_${name}`, help, labelNames: labels, registers: [registry] });
  const scheduled = gauge("repositories_scheduled", "Repositories that are refreshed on a schedule.");
  const repositories = gauge("repositories", "Repositories by availability.", ["provider", "availability"]);
  const due = gauge("repositories_due", "Repositories that are due now.");
  const overdue = gauge("repositories_overdue", "Repositories that have been due for more than an hour.");
  const taken = gauge("repositories_taken", "Repositories that a worker has taken.");
  const waiting = gauge("backfill_waiting", "Repositories of which more of the past is to be asked for.");
  const freshness = gauge("freshness_seconds", "Age of what is known, by quantile.", [
    "provider",
    "quantile",
  ]);
  return async () => {
    const status = await readStatus(database, clock.now());
    // What is not there any more is not told any more.
    repositories.reset();
    freshness.reset();
    for (const one of status) {
      const { provider } = one;
      due.set({ provider }, one.due);
      scheduled.set({ provider }, one.scheduled);
      overdue.set({ provider }, one.overdue);
      taken.set({ provider }, one.taken);
      waiting.set({ provider }, one.backfillWaiting);
      for (const [availability, total] of Object.entries(one.repositories))
        repositories.set({ provider, availability }, total);
      if (one.freshness === null) continue;
      freshness.set({ provider, quantile: "0.5" }, one.freshness.median / 1_000);
      freshness.set({ provider, quantile: "0.9" }, one.freshness.p90 / 1_000);
      freshness.set({ provider, quantile: "0.99" }, one.freshness.p99 / 1_000);
    }
  };
}

function registerReports(registry: Registry, reporters: ReadonlyMap<string, Reporter>): void {
  const counter = (name: string, help: string, labelNames: string[], set: (counter: Counter) => void) => {
    const made: Counter = new Counter({
      name: `sidereal_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        made.reset();
        set(made);
      },
    });
  };
  for (const what of ["refreshed", "discovered", "backfilled"] as const) {
    counter(`${what}_total`, `What this worker has ${what} since it started.`, ["provider"], (made) => {
      for (const [provider, { report }] of reporters) made.inc({ provider }, report[what]);
    });
  }
  counter("failures_total", "Failures of forges, by kind.", ["provider", "kind"], (made) => {
    for (const [provider, { report }] of reporters) {
      for (const kind of FAILURE_KINDS) made.inc({ provider, kind }, report.failures[kind] ?? 0);
    }
  });
  const stretch = new Gauge({
    name: "sidereal_interval_stretch",
    help: "How much longer than wished all intervals are, for want of quota.",
    labelNames: ["provider"],
    registers: [registry],
    collect() {
      for (const [provider, { report }] of reporters) stretch.set({ provider }, report.stretch);
    },
  });
  const quota = new Gauge({
    name: "sidereal_quota_remaining",
    help: "What a token may still do, as the forge told.",
    labelNames: ["provider", "token", "resource"],
    registers: [registry],
    collect() {
      for (const [provider, { report }] of reporters) {
        for (const { token, resource, remaining } of report.quota)
          if (remaining !== null) quota.set({ provider, token, resource }, remaining);
      }
    },
  });
}
