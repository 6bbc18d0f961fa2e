import type { Availability } from "../../catalog/catalog.js";
import type { Window } from "../windows.js";

/** A trend is reliable from this confidence: all factors near 1, or one of them at 0.7. */
export const RELIABLE_FROM = 0.7;

/** Snapshots in a window, both ends included, beyond which more add no confidence. */
const ENOUGH_SNAPSHOTS: Readonly<Record<Window, number>> = { "24h": 2, "7d": 4, "30d": 8 };

export interface ConfidenceInput {
  window: Window;
  windowHours: number;
  /** Hours between the two snapshots compared. */
  coveredHours: number;
  /** Hours by which the repository's newest snapshot is older than its provider's newest. */
  behindHours: number;
  /** Snapshots from `from` to `to`, both included. */
  snapshots: number;
  availability: Availability;
  /** Whether a snapshot in the window looks like a failed reading. */
  hasDoubtfulReading: boolean;
  /** Whether the snapshot at `from` was reconstructed later from forge data rather than taken at its time. */
  isBackfilled: boolean;
}

/**
 * How far a trend can be trusted, from 0 to 1 with two decimals: coverage × freshness × history × readings. Coverage is
 * how well the compared snapshots fit the window, freshness how close the newest is to the provider's newest, history
 * whether there are enough snapshots, readings whether one looks wrong or was backfilled. 0 for an unavailable repository.
 */
export function confidence(input: ConfidenceInput): number {
  const {
    window,
    windowHours,
    coveredHours,
    behindHours,
    snapshots,
    availability,
    hasDoubtfulReading,
    isBackfilled,
  } = input;
  if (availability !== "AVAILABLE") return 0;
  const coverage = Math.min(coveredHours / windowHours, windowHours / coveredHours);
  const freshness = 1 - 0.5 * Math.min(1, Math.max(0, behindHours) / windowHours);
  const history = Math.min(1, snapshots / ENOUGH_SNAPSHOTS[window]);
  const readings = (hasDoubtfulReading ? 0.3 : 1) * (isBackfilled ? 0.8 : 1);
  return Math.round(coverage * freshness * history * readings * 100) / 100;
}
