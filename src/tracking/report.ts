import { hostname } from "node:os";
import { type FailureKind, UpstreamFailure } from "../providers/providers.js";

/** What a worker did for one provider since it started. */
export interface WorkerReport {
  startedAt: number;
  /** Repositories whose state is known anew. */
  refreshed: number;
  discovered: number;
  backfilled: number;
  /** Failures by kind, of single repositories and of whole calls. */
  failures: Partial<Record<FailureKind, number>>;
  lastSuccessAt: number | null;
  lastFailure: { at: number; kind: FailureKind; message: string } | null;
  /** See nextStretch. */
  stretch: number;
  /** What tokens may still do, as the forge told; without the tokens. */
  quota: {
    token: string;
    resource: string;
    limit: number | null;
    remaining: number | null;
    resetAt: number | null;
  }[];
}

export const WORKER = `${hostname()} ${process.pid}`;

/** The report of one provider while its worker runs. */
export class Reporter {
  readonly report: WorkerReport;

  constructor(now: number) {
    this.report = {
      startedAt: now,
      refreshed: 0,
      discovered: 0,
      backfilled: 0,
      failures: {},
      lastSuccessAt: null,
      lastFailure: null,
      stretch: 1,
      quota: [],
    };
  }

  succeeded(now: number): void {
    this.report.lastSuccessAt = now;
  }

  failed(failure: UpstreamFailure, now: number): void {
    const { kind, message } = failure;
    this.report.failures[kind] = (this.report.failures[kind] ?? 0) + 1;
    this.report.lastFailure = { at: now, kind, message };
  }
}

/** What was thrown as a failure of a provider; anything else is a fault of ours and goes on. */
export function asFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  throw error;
}
