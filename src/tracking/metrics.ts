import type { Database } from "../database/database.js";
import { FAILURE_KINDS } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import type { Metrics, MetricValue } from "../lib/metrics.js";
import { COUNTED, type Counted, type Reporter } from "./report.js";
import { type Ages, missingHistories, type ProviderStatus, readStatus } from "./status.js";

/** Adds the metrics of a worker: its work since it started, and the state of tracking in the database. */
export function addTracking(
  metrics: Metrics,
  { database, clock }: { database: Database; clock: Clock },
  reporters: ReadonlyMap<string, Reporter>,
): void {
  addReports(metrics, reporters);
  addStatus(metrics, database, clock);
}

/** A metric of one provider: a value, several with further labels, or null for none. */
type ValuesOf<Source> = (source: Source) => number | null | readonly MetricValue[];

/** Adds a metric whose values are read from `sources`: from each provider's present one. */
function perProvider<Source>(
  metrics: Metrics,
  sources: () => Iterable<readonly [provider: string, source: Source]>,
): (name: string, help: string, valuesOf: ValuesOf<Source>) => void {
  return (name, help, valuesOf) =>
    metrics.add(name, help, () =>
      [...sources()].flatMap(([provider, source]) => {
        const values = valuesOf(source);
        const all: readonly MetricValue[] = typeof values === "number" ? [[values, {}]] : (values ?? []);
        return all.map(([value, labels]): MetricValue => [value, { provider, ...labels }]);
      }),
    );
}

/** The status is read at most this often, as that counts rows, and scrapers send requests every few seconds. */
const STATUS_MS = 60_000;

function addStatus(metrics: Metrics, database: Database, clock: Clock): void {
  let status: ProviderStatus[] = [];
  const gauge = perProvider(metrics, () => status.map((one) => [one.provider, one] as const));
  gauge("repositories_scheduled", "Repositories with a refresh schedule.", ({ scheduled }) => scheduled);
  gauge("repositories", "Repositories by availability.", ({ repositories }) =>
    Object.entries(repositories).map(([availability, total]) => [total, { availability }]),
  );
  gauge("repositories_due", "Repositories that are due now.", ({ due }) => due);
  const overdue = "Repositories that have been due for more than an hour.";
  gauge("repositories_overdue", overdue, (one) => one.overdue);
  const missing = "Repositories that are reported missing and not recorded as unavailable.";
  gauge("missing_waiting", missing, (one) => one.missing.waiting);
  const requests = "Open requests to track, by who made them.";
  gauge("requests_waiting", requests, ({ requests: { people, batch } }) => [
    [people, { from: "people" }],
    [batch, { from: "lists" }],
  ]);
  const oldest = "When the oldest open request was made, in seconds since 1970. Absent without one.";
  gauge("oldest_request_timestamp_seconds", oldest, ({ requests: { oldest: at } }) => at && at / 1_000);
  gauge("rechecks_waiting", "Repositories whose second reading is planned.", (one) => one.rechecksWaiting);
  gauge("backfill_waiting", "Repositories whose star history is not complete.", missingHistories);
  const older = "Available repositories whose counts are older than a day.";
  gauge("repositories_older_than_day", older, (one) => one.olderThanADay);
  const counts = "Time since the counts of repositories were read, by percentile.";
  gauge("freshness_seconds", counts, (one) => percentilesOf(one.freshness));
  const details =
    "Time since the own records of repositories were read whose lists are incomplete, by percentile.";
  gauge("details_freshness_seconds", details, (one) => percentilesOf(one.detailsFreshness));
  gauge("walk_seconds", "Duration of the last complete walk.", ({ walk }) =>
    walk === null || walk.tookMs === null ? null : walk.tookMs / 1_000,
  );
  let last: { at: number; done: Promise<void> } | undefined;
  metrics.beforeRead(() => {
    const now = clock.monotonic();
    if (last === undefined || now - last.at >= STATUS_MS) {
      const done = readStatus(database, clock.now()).then(
        (read) => {
          status = read;
        },
        () => {
          status = [];
          last = undefined;
        },
      );
      last = { at: now, done };
    }
    return last.done;
  });
}

function percentilesOf(ages: Ages | null): MetricValue[] {
  if (ages === null) return [];
  const all = [["50", ages.median] as const, ["90", ages.p90] as const, ["99", ages.p99] as const];
  return all.map(([percentile, age]) => [age / 1_000, { percentile }]);
}

function addReports(metrics: Metrics, reporters: ReadonlyMap<string, Reporter>): void {
  const metric = perProvider(metrics, () =>
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
    quota.flatMap(({ token, resource, remaining }): MetricValue[] =>
      remaining === null ? [] : [[remaining, { token, resource }]],
    ),
  );
  const blocked = "Until when a token is not used, in seconds since 1970; 0: until it works again.";
  metric("token_blocked_until_seconds", blocked, ({ quota }) =>
    quota.flatMap(({ token, resource, blockReason: reason, blockedUntil }): MetricValue[] =>
      reason === null ? [] : [[Math.ceil((blockedUntil ?? 0) / 1_000), { token, resource, reason }]],
    ),
  );
}
