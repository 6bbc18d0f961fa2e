/** What the service says of a history after a given reading, by its own functions. */

import type { Anomaly } from "../../src/growth/anomalies.js";
import { type Growth, growthOf } from "../../src/growth/gains.js";
import type { History } from "../../src/growth/history.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Recency } from "../../src/repositories/recency.js";
import type { Track } from "./archive.js";

export const PROVIDER = "GITHUB";
/** Days of readings that the service reads before the newest one. */
const HISTORY_MS = 60 * DAY_MS;

/** A repository that is in the newest file, read at this time. */
export function recencyAt(source: string, at: number): Recency {
  return {
    fullDays: new Map([[PROVIDER, at]]),
    since: new Map([[PROVIDER, 0]]),
    newestFiles: new Map([[source, at]]),
    firstFiles: [],
  };
}

/** The history of a track up to the reading at an index, as the service reads it. */
export function historyAt(track: Track, index: number, source: string): History {
  const { readings, pushed, createdAt } = track;
  const at = readings.at(index);
  const pushedAt = pushed[index] ?? Number.NaN;
  return {
    repositoryId: 0,
    provider: PROVIDER,
    availability: "AVAILABLE",
    createdAt,
    pushedAt: Number.isNaN(pushedAt) ? null : pushedAt,
    discoveredAt: readings.at(0),
    isContinued: false,
    importSource: source,
    refreshInterval: null,
    nextRefreshAt: null,
    countedAt: null,
    readings: readings.slice(readings.countBefore(at - HISTORY_MS), index + 1),
    isHistoryWhole: true,
  };
}

/** The growth of a track as it was after the reading at an index, while that was the newest. */
export function growthAt(track: Track, index: number, source: string): Growth[] {
  return growthOf(historyAt(track, index, source), recencyAt(source, track.readings.at(index)));
}

/** The anomalies of all windows, each once. */
export function anomaliesOf(growth: readonly Growth[]): Anomaly[] {
  const found = new Map<string, Anomaly>();
  for (const { anomalies } of growth) {
    for (const anomaly of anomalies) found.set(`${anomaly.kind} ${anomaly.at}`, anomaly);
  }
  return [...found.values()];
}

/** The kinds of the anomalies that concern a time between `from` and `to` and still throw doubt on it. */
export function openKinds(growth: readonly Growth[], from: number, to = from): Set<string> {
  const concerned = anomaliesOf(growth).filter((anomaly) => anomaly.at <= to && endOf(anomaly) >= from);
  return new Set(concerned.map(({ kind }) => kind));
}

/** The last reading that an anomaly concerns. */
function endOf(anomaly: Anomaly & { until?: number }): number {
  return Math.max(anomaly.at, anomaly.until ?? anomaly.at);
}
