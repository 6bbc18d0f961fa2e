import { createServer } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Database } from "../database/database.js";
import { FAILURE_KINDS } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import { COUNTED, type Counted, type Reporter } from "./report.js";
import { type Ages, type ProviderStatus, readStatus } from "./status.js";

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
  registerReports(registry, reporters);
  const updateStatus = registerStatus(registry, database, clock);
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

/** What a metric says of one provider: a value, several with further labels, or null for none. */
type ValuesOf<Source> = (source: Source) => number | null | readonly LabelledValue[];
type LabelledValue = readonly [value: number, labels: Readonly<Record<string, string>>];

/** Values without one of these labels are sent without it. */
const LABELS = ["provider", "availability", "quantile", "kind", "token", "resource", "reason"];

/** Registers a metric whose values are read from `sources` when it is collected: from each provider's present one. */
function register<Source>(
  registry: Registry,
  sources: () => Iterable<readonly [provider: string, source: Source]>,
): (name: string, help: string, valuesOf: ValuesOf<Source>) => void {
  return (name, help, valuesOf) => {
    const Type = name.endsWith("_total") ? Counter : Gauge;
    const metric: Counter | Gauge = new Type({
      name: `sidereal_${name}`,
      help,
      labelNames: LABELS,
      registers: [registry],
      collect() {
        metric.reset();
        for (const [provider, source] of sources()) {
          const values = valuesOf(source);
          const all: readonly LabelledValue[] = typeof values === "number" ? [[values, {}]] : (values ?? []);
          for (const [value, labels] of all) metric.inc({ provider, ...labels }, value);
        }
      },
    });
  };
}

/** The status is read at most this often, as that counts rows, and scrapers send requests every few seconds. */
const STATUS_MS = 60_000;

/** Returns a function that reads the status again unless it is recent. Await it before reading the metrics. */
function registerStatus(registry: Registry, database: Database, clock: Clock): () => Promise<void> {
  let status: ProviderStatus[] = [];
  const gauge = register(registry, () => status.map((one) => [one.provider, one] as const));
  gauge("repositories_scheduled", "Repositories with a refresh schedule.", ({ scheduled }) => scheduled);
  gauge("repositories", "Repositories by availability.", ({ repositories }) =>
    Object.entries(repositories).map(([availability, total]) => [total, { availability }]),
  );
  gauge("repositories_due", "Repositories that are due now.", ({ due }) => due);
  const overdue = "Repositories that have been due for more than an hour.";
  gauge("repositories_overdue", overdue, (one) => one.overdue);
  const missing = "Repositories that are reported missing and not recorded as unavailable.";
  gauge("missing_waiting", missing, (one) => one.missing.waiting);
  gauge("rechecks_waiting", "Repositories whose second reading is planned.", (one) => one.rechecksWaiting);
  gauge("backfill_waiting", "Repositories whose star history is not complete.", (one) => one.backfillWaiting);
  const older = "Available repositories whose counts are older than a day.";
  gauge("repositories_older_than_day", older, (one) => one.olderThanADay);
  const counts = "Time since the counts of repositories were read, by quantile.";
  gauge("freshness_seconds", counts, (one) => quantilesOf(one.freshness));
  const details =
    "Time since the own records of repositories were read whose lists lack fields, by quantile.";
  gauge("details_freshness_seconds", details, (one) => quantilesOf(one.detailsFreshness));
  gauge("walk_seconds", "Duration of the last complete walk.", ({ walk }) =>
    walk === null || walk.tookMs === null ? null : walk.tookMs / 1_000,
  );
  let last: { at: number; done: Promise<void> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last === undefined || now - last.at >= STATUS_MS) {
      const done = readStatus(database, clock.now()).then((read) => {
        status = read;
      });
      last = { at: now, done };
      done.catch(() => {
        last = undefined;
      });
    }
    return last.done;
  };
}

function quantilesOf(ages: Ages | null): LabelledValue[] {
  if (ages === null) return [];
  const quantiles = [["0.5", ages.median] as const, ["0.9", ages.p90] as const, ["0.99", ages.p99] as const];
  return quantiles.map(([quantile, age]) => [age / 1_000, { quantile }]);
}

function registerReports(registry: Registry, reporters: ReadonlyMap<string, Reporter>): void {
  const metric = register(registry, () =>
    [...reporters].map(([name, { report }]) => [name, report] as const),
  );
  for (const [what, help] of Object.entries(COUNTED))
    metric(`${what}_total`, help, (report) => report[what as Counted]);
  metric("failures_total", "Failed requests to forges, by kind.", ({ failures }) =>
    FAILURE_KINDS.map((kind) => [failures[kind] ?? 0, { kind }]),
  );
  const stretch = "Factor that lengthens all refresh intervals because of too little quota.";
  metric("interval_stretch", stretch, (report) => report.stretch);
  const remaining = "Remaining quota of a token, as last reported by the forge.";
  metric("quota_remaining", remaining, ({ quota }) =>
    quota.flatMap(({ token, resource, remaining }): LabelledValue[] =>
      remaining === null ? [] : [[remaining, { token, resource }]],
    ),
  );
  const blocked = "Until when a token is not used, in seconds since 1970; 0: until it works again.";
  metric("token_blocked_until_seconds", blocked, ({ quota }) =>
    quota.flatMap(({ token, resource, blockReason: reason, blockedUntil }): LabelledValue[] =>
      reason === null ? [] : [[Math.ceil((blockedUntil ?? 0) / 1_000), { token, resource, reason }]],
    ),
  );
}
