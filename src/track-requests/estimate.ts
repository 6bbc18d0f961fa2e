import { HOUR_MS } from "../clock.js";

/** What the lane of a provider reported about its pace. */
export interface Pace {
  /** Time of the report. */
  at: number;
  /** When it can send the next request. */
  readyAt: number;
  /** Requests left of a quota, and when all of it is left again; null: not known. */
  remaining: number | null;
  quota: number | null;
  resetAt: number | null;
}

/** A report is renewed more often while anything waits. */
const RECENT_MS = 60_000;
/** Lookups take turns with other requests to the forge. */
const SHARE = 1 / 2;
const SECONDS_PER_LOOKUP = 1;

/**
 * Seconds until a request at this position, from 1, is looked up: a cautious estimate, as other work uses the same quota. null
 * while no worker reports.
 */
export function estimatedSeconds(position: number, pace: Pace | undefined, now: number): number | null {
  if (pace === undefined || pace.at < now - RECENT_MS) return null;
  const { readyAt, remaining, quota, resetAt } = pace;
  const readySeconds = Math.max(0, readyAt - now) / 1_000;
  const lookups = position * SECONDS_PER_LOOKUP;
  if (remaining === null || quota === null) return Math.ceil(readySeconds + lookups);
  const share = (requests: number) => Math.max(1, Math.floor(requests * SHARE));
  // What is left now, and then all of it, time and again. Only the first renewal is known.
  const free = readySeconds > 0 ? 0 : share(remaining);
  if (position <= free) return Math.ceil(lookups);
  const renewals = Math.ceil((position - free) / share(quota));
  const resetSeconds = Math.max(readySeconds, ((resetAt ?? now) - now) / 1_000);
  return Math.ceil(resetSeconds + ((renewals - 1) * HOUR_MS) / 1_000 + lookups);
}
