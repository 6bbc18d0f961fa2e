import { chooseFrom, type Readings, type Recency, recentUntil } from "../../catalog/catalog.js";
import { WINDOWS, type Window, windowMs } from "../windows.js";
import { type Anomaly, countedPart, findAnomalies, MIN_MOVEMENT, type Reading } from "./anomalies.js";
import { type History, readingAt } from "./history.js";

/** How a repository has grown in one window: the two snapshots compared, and the anomalies between them. */
export interface Growth {
  window: Window;
  from: Reading;
  to: Reading;
  /** Snapshots from `from` to `to`, both included. */
  snapshots: number;
  /** The part of the deltas that counts; null: unknown. */
  starsCounted: number;
  forksCounted: number | null;
  /** Until when it counts: it leaves all rankings once the provider's newest snapshot is later. */
  freshUntil: number;
  /** The suspected earlier name that `from` belongs to; null: it is the repository's own. */
  predecessorId: number | null;
  anomalies: Anomaly[];
}

/**
 * The growth of a repository in each window in which it has a trend. All windows end at the provider's newest snapshot: a
 * repository has no trend in a window if its own newest snapshot is older than half of it, or no longer recent.
 */
export function growthOf(history: History, recency: Recency): Growth[] {
  const { readings, pushedAt, provider } = history;
  const asOf = recency.asOf.get(provider) ?? 0;
  const to = readingAt(readings, readings.length - 1);
  const recent = recentUntil({ ...history, at: to.at, source: to.source }, recency);
  let all: Anomaly[] | undefined;
  return WINDOWS.flatMap((window): Growth[] => {
    const length = windowMs(window);
    const freshUntil = Math.min(recent, to.at + length / 2);
    if (freshUntil < asOf) return [];
    const index = indexOfFrom(readings, to.at, length);
    if (index === undefined || index === readings.length - 1) return [];
    const from = readingAt(readings, index);
    all ??= mayHaveAnomalies(readings) ? findAnomalies(allOf(readings), pushedAt) : [];
    const anomalies = all.filter((anomaly) => anomaly.at >= from.at && anomaly.at <= to.at);
    const counted = countedPart(anomalies, from, to);
    const forksDelta = difference(to.forks, from.forks);
    return [
      {
        window,
        from,
        to,
        snapshots: readings.length - index,
        starsCounted: Math.round((to.stars - from.stars) * counted),
        forksCounted: forksDelta === null ? null : Math.round(forksDelta * counted),
        freshUntil,
        predecessorId: null,
        anomalies,
      },
    ];
  });
}

/** null if either is unknown. */
export function difference(to: number | null, from: number | null): number | null {
  return to === null || from === null ? null : to - from;
}

function allOf(readings: Readings): Reading[] {
  return Array.from({ length: readings.length }, (_, index) => readingAt(readings, index));
}

/** Whether the stars have moved enough for an anomaly. Few repositories have, which saves looking closer. */
function mayHaveAnomalies(readings: Readings): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < readings.length; i++) {
    const stars = readings.stars(i);
    if (stars < least) least = stars;
    if (stars > most) most = stars;
  }
  return most - least > 0 && most - least >= Math.min(MIN_MOVEMENT, most / 2);
}

/** The index of the snapshot to compare with the one at `to`; see the catalog's chooseFrom. */
function indexOfFrom(readings: Readings, to: number, length: number): number | undefined {
  // Times are whole numbers.
  const low = readings.countBefore(to - length + 1);
  const before = low > 0 ? readings.at(low - 1) : null;
  const after = low < readings.length ? readings.at(low) : null;
  const chosen = chooseFrom(to, length, { before, after });
  if (chosen === undefined) return undefined;
  return chosen === before ? low - 1 : low;
}
