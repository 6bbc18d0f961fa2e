import type { History } from "../../src/growth/history.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { SNAPSHOT_SOURCES } from "../../src/repositories/record-rules.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { Readings } from "../../src/repositories/snapshots/readings.js";

/** A history as growth reads it, of snapshots in order of time. */
export function historyOf(snapshots: readonly Snapshot[], more: Partial<History> = {}): History {
  const numbers = snapshots.flatMap(({ capturedAt, stars, forks, openIssues, watchers, source }) => [
    capturedAt,
    stars,
    ...[forks, openIssues, watchers].map((count) => count ?? -1),
    SNAPSHOT_SOURCES.indexOf(source),
  ]);
  return {
    repositoryId: 1,
    provider: "GITHUB",
    availability: "AVAILABLE",
    // Long before all snapshots.
    createdAt: -1_000 * DAY_MS,
    pushedAt: null,
    discoveredAt: 0,
    isContinued: false,
    importSource: null,
    refreshInterval: null,
    nextRefreshAt: null,
    countedAt: null,
    isHistoryWhole: true,
    readings: new Readings(Float64Array.from(numbers)),
    ...more,
  };
}
