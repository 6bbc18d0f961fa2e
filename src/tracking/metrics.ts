import { createServer } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Database } from "../database/database.js";
import { FAILURE_KINDS } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import { COUNTED, type Counted, type Reporter } from "./report.js";
import { readStatus } from "./status.js";

/** The HTTP server of a worker's Prometheus metrics. */
export interface Metrics {
  port: number;
  close(): Promise<void>;
}

/** Serves `GET /metrics` on its own port. Every request reads the current values. */
export async function serveMetrics(
  { database, clock }: { database: Database; clock: Clock },
  reporters: ReadonlyMap<string, Reporter>,
  { host, port }: { host: string; port: number },
): Promise<Metrics> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const updateStatus = registerStatus(registry, database, clock);
  registerReports(registry, reporters);
  const server = createServer((request, response) => {
    const send = (status: number, text: string, type = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "Content-Type": type }).end(text);
    if (request.method !== "GET" || request.url !== "/metrics") {
      send(404, "see /metrics\n");
      return;
    }
    updateStatus()
      .then(() => registry.metrics())
      .then(
        (text) => send(200, text, registry.contentType),
        () => send(500, "the metrics cannot be read\n"),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The status is read at most this often, as that counts rows, and scrapers send requests every few seconds. */
const STATUS_MS = 60_000;

/** Returns a function that updates the status metrics unless they are recent. Await it before reading them. */
function registerStatus(registry: Registry, database: Database, clock: Clock): () => Promise<void> {
  const gauge = (name: string, help: string, labels: string[] = ["provider"]) =>
    new Gauge({ name: `sidereal_${name}`, help, labelNames: labels, registers: [registry] });
  const scheduled = gauge("repositories_scheduled", "Repositories with a refresh schedule.");
  const repositories = gauge("repositories", "Repositories by availability.", ["provider", "availability"]);
  const due = gauge("repositories_due", "Repositories that are due now.");
  const overdue = gauge("repositories_overdue", "Repositories that have been due for more than an hour.");
  const missing = gauge(
    "missing_waiting",
    "Repositories that are reported missing and not recorded as unavailable.",
  );
  const rechecks = gauge("rechecks_waiting", "Repositories whose second reading is planned.");
  const waiting = gauge("backfill_waiting", "Repositories whose star history is not complete.");
  const older = gauge(
    "repositories_older_than_day",
    "Available repositories whose counts are older than a day.",
  );
  const quantiles = ["provider", "quantile"];
  const ages = {
    freshness: gauge(
      "freshness_seconds",
      "Time since the counts of repositories were read, by quantile.",
      quantiles,
    ),
    detailsFreshness: gauge(
      "details_freshness_seconds",
      "Time since the own records of repositories were read whose lists lack fields, by quantile.",
      quantiles,
    ),
  };
  const walks = gauge("walk_seconds", "Duration of the last complete walk.");
  const update = async () => {
    const status = await readStatus(database, clock.now());
    // Drops label values that no longer exist.
    repositories.reset();
    for (const one of Object.values(ages)) one.reset();
    for (const one of status) {
      const { provider } = one;
      due.set({ provider }, one.due);
      scheduled.set({ provider }, one.scheduled);
      overdue.set({ provider }, one.overdue);
      missing.set({ provider }, one.missing.waiting);
      rechecks.set({ provider }, one.rechecksWaiting);
      waiting.set({ provider }, one.backfillWaiting);
      for (const [availability, total] of Object.entries(one.repositories))
        repositories.set({ provider, availability }, total);
      older.set({ provider }, one.olderThanADay);
      for (const what of ["freshness", "detailsFreshness"] as const) {
        const { median, p90, p99 } = one[what] ?? {};
        for (const [quantile, age] of Object.entries({ "0.5": median, "0.9": p90, "0.99": p99 }))
          if (age !== undefined) ages[what].set({ provider, quantile }, age / 1_000);
      }
      const tookMs = one.walk?.tookMs ?? null;
      if (tookMs !== null) walks.set({ provider }, tookMs / 1_000);
    }
  };
  let last: { at: number; done: Promise<void> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last === undefined || now - last.at >= STATUS_MS) {
      const done = update();
      last = { at: now, done };
      done.catch(() => {
        last = undefined;
      });
    }
    return last.done;
  };
}

const HELP = {
  refreshed: "Repositories refreshed since the worker started.",
  lost: "Repositories recorded as unavailable since the worker started.",
  held: "Confirmed losses since the worker started that were too many to be recorded.",
  doubted: "Readings since the worker started whose counts had fallen doubtfully.",
  rechecked: "Second readings of such repositories since the worker started.",
  discovered: "Repositories discovered since the worker started.",
  surplus: "Rows of lists since the worker started about new repositories that were too many for a day.",
  listed: "Known repositories since the worker started whose counts a list has reported.",
  avatars: "Avatars fetched since the worker started.",
  backfilled: "Snapshots added from star histories since the worker started.",
} as const satisfies Record<Counted, string>;

function registerReports(registry: Registry, reporters: ReadonlyMap<string, Reporter>): void {
  const addCounter = (
    { name, help, labelNames }: { name: string; help: string; labelNames: string[] },
    set: (counter: Counter) => void,
  ) => {
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
  for (const what of COUNTED) {
    addCounter({ name: `${what}_total`, help: HELP[what], labelNames: ["provider"] }, (made) => {
      for (const [provider, { report }] of reporters) made.inc({ provider }, report[what]);
    });
  }
  const failures = {
    name: "failures_total",
    help: "Failed requests to forges, by kind.",
    labelNames: ["provider", "kind"],
  };
  addCounter(failures, (made) => {
    for (const [provider, { report }] of reporters) {
      for (const kind of FAILURE_KINDS) made.inc({ provider, kind }, report.failures[kind] ?? 0);
    }
  });
  const stretch = new Gauge({
    name: "sidereal_interval_stretch",
    help: "Factor that lengthens all refresh intervals because of too little quota.",
    labelNames: ["provider"],
    registers: [registry],
    collect() {
      for (const [provider, { report }] of reporters) stretch.set({ provider }, report.stretch);
    },
  });
  const quota = new Gauge({
    name: "sidereal_quota_remaining",
    help: "Remaining quota of a token, as last reported by the forge.",
    labelNames: ["provider", "token", "resource"],
    registers: [registry],
    collect() {
      for (const [provider, { report }] of reporters) {
        for (const { token, resource, remaining } of report.quota)
          if (remaining !== null) quota.set({ provider, token, resource }, remaining);
      }
    },
  });
  const blocked = new Gauge({
    name: "sidereal_token_blocked_until_seconds",
    help: "Until when a token is not used, in seconds since 1970; 0: until it works again.",
    labelNames: ["provider", "token", "resource", "reason"],
    registers: [registry],
    collect() {
      blocked.reset();
      for (const [provider, { report }] of reporters) {
        for (const { token, resource, blockReason: reason, blockedUntil } of report.quota)
          if (reason !== null)
            blocked.set({ provider, token, resource, reason }, Math.ceil((blockedUntil ?? 0) / 1_000));
      }
    },
  });
}
