import type { SnapshotRange } from "../../catalog/catalog.js";
import { WINDOW_LABELS, type Window, windowMs } from "../../rankings/rankings.js";
import { formatDate } from "./numbers.js";

export interface NoGrowthFacts {
  stored: SnapshotRange;
  /** The newest snapshot of its provider. */
  asOf: number | null;
  isStale: boolean;
}

/** Why a repository has no growth in these windows, as one sentence. The only place with these words. */
export function noGrowthText(windows: readonly Window[], facts: NoGrowthFacts): string {
  const names = windows.map((window) => WINDOW_LABELS[window]).join(" and ");
  return `No growth over ${names}${noGrowthReason(windows[0] ?? "24h", facts)}.`;
}

/** What follows "No growth over 7 days". */
export function noGrowthReason(window: Window, { stored, asOf, isStale }: NoGrowthFacts): string {
  const { snapshots, firstSnapshotAt: first, lastSnapshotAt: last } = stored;
  if (first === null || last === null) return ": no snapshot of it is stored";
  if (snapshots === 1) return ` yet: growth compares two snapshots, and its first is of ${formatDate(first)}`;
  const half = windowMs(window) / 2;
  if (isStale || last < (asOf ?? last) - half)
    return `: its last snapshot, of ${formatDate(last)}, is too old to count`;
  if (last - first < half)
    return ` yet: its snapshots begin on ${formatDate(first)}, too close to the last one`;
  return ": no snapshot is near enough to the start of that time";
}
