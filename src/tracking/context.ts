import type { Catalog } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import type { ForgeKind } from "../forges.js";
import type { Provider } from "../providers/providers.js";
import type { Rankings } from "../rankings/rankings.js";
import type { Reporter } from "./report.js";

/** What tracking works on. */
export interface TrackingModules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
}

/** What the lanes of one provider share. */
export interface Lane {
  modules: TrackingModules;
  provider: Provider;
  clock: Clock;
  reporter: Reporter;
  /** From 0 to 1, for spreading; injected so that tests repeat. */
  chance: () => number;
  /** Ends everything soon. */
  signal: AbortSignal;
}

/**
 * How long a lane rests for each request, in ms. GitHub allows 900 points a minute to all lanes together; a lane asks smaller
 * forges no more than twice a second in the mean.
 */
export function restBetween(kind: ForgeKind): number {
  return kind === "github" ? 150 : 500;
}

/** What a lane has just done. */
export interface Step {
  /** How long to wait for the next one. */
  waitMs: number;
  /** Whether a forge was asked, and answered. */
  hasAnswer: boolean;
}

/** Nothing could be done yet. */
export const waiting = (waitMs: number): Step => ({ waitMs, hasAnswer: false });
/** A forge has answered. */
export const answered = (waitMs: number): Step => ({ waitMs, hasAnswer: true });

/** How long a worker may keep what it has taken; longer than any call takes. */
export const LEASE_MS = 10 * 60_000;
