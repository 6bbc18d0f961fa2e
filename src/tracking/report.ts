/** The worker's report about one provider, for the status and the metrics. Nothing in the worker depends on it. */
import { hostname } from "node:os";
import type { FailureKind, TokenNotice, TokenQuota, UpstreamFailure } from "../forges/forges.js";
import type { WorkerLease } from "./lease.js";
import type { Pace } from "./requests/request.js";

/** The counts of a report since the worker started, with the help texts of the metrics. */
export const COUNTED = {
  refreshed: "Repositories refreshed since the worker started.",
  lost: "Repositories recorded as unavailable since the worker started.",
  held: "Confirmed losses since the worker started that were too many to be recorded.",
  doubted: "Readings since the worker started whose counts had fallen doubtfully.",
  rechecked: "Second readings of such repositories since the worker started.",
  discovered: "Repositories discovered since the worker started.",
  surplus: "Rows of lists since the worker started about new repositories that were too many for a day.",
  listed: "Known repositories since the worker started whose counts a list has reported.",
  backfilled: "Snapshots added from star histories since the worker started.",
  avatars: "Avatars fetched since the worker started.",
} as const;
export type Counted = keyof typeof COUNTED;

/** A worker's activity for one provider since it started. Times in ms since 1970. */
export interface WorkerReport extends Record<Counted, number> {
  /** Host and process. */
  worker: string;
  startedAt: number;
  failures: Partial<Record<FailureKind, number>>;
  lastSuccessAt: number | null;
  site: string;
  /** The latest failure of a whole call other than a used-up quota, and since when calls fail; null: the forge has responded since. */
  failing: { since: number; at: number; kind: FailureKind; message: string } | null;
  recentFailures: readonly RecentFailure[];
  /** Current factor of all refresh intervals; see nextStretch. */
  stretch: number;
  withheld: readonly string[];
  /** Remaining quota and blocks per token; without the tokens themselves. */
  quota: TokenQuota[];
  /** The pace of requests to track; null: not known yet. */
  lookups: Pace | null;
}

interface RecentFailure {
  kind: FailureKind;
  reason: string | null;
  message: string;
  count: number;
  firstAt: number;
  at: number;
}

const NOTHING_COUNTED = Object.fromEntries(Object.keys(COUNTED).map((what) => [what, 0])) as Record<
  Counted,
  number
>;
const MAX_RECENT = 8;

/** A stored report. Those of older versions do not have all fields. */
export function readReport(body: string): WorkerReport {
  return { ...new Reporter(0).report, ...JSON.parse(body) };
}

/** Replaces the stored report about a provider. */
export async function saveReport(
  lease: WorkerLease,
  provider: string,
  { at, report }: { at: number; report: WorkerReport },
): Promise<void> {
  const row = { at, body: JSON.stringify(report) };
  await lease.write((tx) =>
    tx
      .insertInto("worker_reports")
      .values({ provider, ...row })
      .onConflict((conflict) => conflict.column("provider").doUpdateSet(row))
      .execute(),
  );
}

export class Reporter {
  readonly report: WorkerReport;

  constructor(now: number) {
    this.report = {
      worker: `${hostname()} ${process.pid}`,
      startedAt: now,
      ...NOTHING_COUNTED,
      failures: {},
      lastSuccessAt: null,
      site: "",
      failing: null,
      recentFailures: [],
      stretch: 1,
      withheld: [],
      quota: [],
      lookups: null,
    };
  }

  /** Continues what the last worker has seen of the forge, so that a restart makes neither a failure nor the last reading younger. */
  resume({ lastSuccessAt, failing }: Pick<WorkerReport, "lastSuccessAt" | "failing">): void {
    this.report.lastSuccessAt ??= lastSuccessAt;
    this.report.failing ??= failing;
  }

  add(what: Counted, count: number): void {
    this.report[what] += count;
  }

  succeeded(now: number): void {
    this.report.lastSuccessAt = now;
    this.report.failing = null;
  }

  /** A failure that stops a lane for a while, so it concerns more than one repository. */
  stopped(failure: UpstreamFailure, at: number): void {
    this.failed(failure, at);
    const { kind, message } = failure;
    const since = this.report.failing?.since ?? at;
    if (kind !== "quota") this.report.failing = { since, at, kind, message };
  }

  failed({ kind, message, reason }: UpstreamFailure, now: number): void {
    this.#count(kind);
    const { recentFailures } = this.report;
    const isSame = (one: RecentFailure) => one.kind === kind && one.reason === reason;
    const { count, firstAt } = recentFailures.find(isSame) ?? { count: 0, firstAt: now };
    this.report.recentFailures = [
      { kind, reason, message, count: count + 1, firstAt, at: now },
      ...recentFailures.filter((one) => !isSame(one)),
    ].slice(0, MAX_RECENT);
  }

  /** Counts rejected tokens that others took over from: no call has failed. */
  noticed(notices: readonly TokenNotice[]): void {
    for (const { isWorking, isReplaced } of notices) if (!isWorking && isReplaced) this.#count("refused");
  }

  #count(kind: FailureKind): void {
    this.report.failures[kind] = (this.report.failures[kind] ?? 0) + 1;
  }
}
