import { hostname } from "node:os";
import type { Catalog } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import type { ForgeKind } from "../forges.js";
import type { FailureKind, Provider, TokenQuota, UpstreamFailure } from "../providers/providers.js";
import type { Rankings } from "../rankings/rankings.js";

/** The modules that tracking works with. */
export interface TrackingModules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
}

/** Shared by the lanes of one provider. A lane is one kind of work: refreshing, reading again, discovering or backfilling. */
export interface Lane {
  modules: TrackingModules;
  provider: Provider;
  clock: Clock;
  reporter: Reporter;
  /** A random number from 0 to 1, for spreading due times; injected so that tests are repeatable. */
  chance: () => number;
  /** Stops the lane. */
  signal: AbortSignal;
}

/** The result of one step of a lane. */
export interface Step {
  /** Time until the next step, in ms. */
  waitMs: number;
  /** Whether a request was sent and got a response. */
  hasResponse: boolean;
}

/** A step that had nothing to do yet. */
export const waiting = (waitMs: number): Step => ({ waitMs, hasResponse: false });
/** A step that got a response from the forge. */
export const responded = (waitMs: number): Step => ({ waitMs, hasResponse: true });

/**
 * Pause of a lane per request, in ms. GitHub allows 900 points per minute for all lanes together; smaller forges get at most
 * two requests per second and lane.
 */
export function pauseMs(kind: ForgeKind): number {
  return kind === "github" ? 150 : 500;
}

/** How long a worker may keep claimed work; longer than any call takes. */
export const LEASE_MS = 10 * 60_000;

/** Identifies this process in reports. */
export const WORKER = `${hostname()} ${process.pid}`;

/** A worker's activity for one provider since it started. Times in ms since 1970. */
export interface WorkerReport {
  startedAt: number;
  /** Number of repositories refreshed, whatever the result. */
  refreshed: number;
  /** Number of readings whose counts had fallen doubtfully, and of second readings after them. */
  doubted: number;
  rechecked: number;
  discovered: number;
  /** Number of snapshots added from star histories. */
  backfilled: number;
  /** Failures by kind, of single repositories and of whole calls. */
  failures: Partial<Record<FailureKind, number>>;
  lastSuccessAt: number | null;
  lastFailure: { at: number; kind: FailureKind; message: string } | null;
  /** Current factor of all refresh intervals; see nextStretch. */
  stretch: number;
  /** Remaining quota per token; without the tokens themselves. */
  quota: Omit<TokenQuota, "blockedUntil">[];
}

/** What a report counts. */
export const COUNTED = ["refreshed", "doubted", "rechecked", "discovered", "backfilled"] as const;
export type Counted = (typeof COUNTED)[number];

/** Collects the report of one provider while its worker runs. Nothing in the worker depends on it. */
export class Reporter {
  readonly report: WorkerReport;

  constructor(now: number) {
    this.report = {
      startedAt: now,
      refreshed: 0,
      doubted: 0,
      rechecked: 0,
      discovered: 0,
      backfilled: 0,
      failures: {},
      lastSuccessAt: null,
      lastFailure: null,
      stretch: 1,
      quota: [],
    };
  }

  add(what: Counted, count: number): void {
    this.report[what] += count;
  }

  succeeded(now: number): void {
    this.report.lastSuccessAt = now;
  }

  failed({ kind, message }: UpstreamFailure, now: number): void {
    this.report.failures[kind] = (this.report.failures[kind] ?? 0) + 1;
    this.report.lastFailure = { at: now, kind, message };
  }
}
