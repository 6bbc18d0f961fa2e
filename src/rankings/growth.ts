import { chooseFrom } from "../catalog/catalog.js";
import { type Anomaly, countedPart, findAnomalies, MIN_MOVEMENT, type Reading } from "./anomalies.js";
import type { Past, Readings } from "./past.js";
import { WINDOWS, type Window, windowMs } from "./windows.js";

/** How a repository has grown in one window: two snapshots compared, and what is strange between them. */
export interface Growth {
  window: Window;
  from: Reading;
  to: Reading;
  /** Snapshots from `from` to `to`, both counted. */
  snapshots: number;
  /** The part of the gain that counts in the scores. */
  counted: number;
  anomalies: Anomaly[];
}

/**
 * The growth of a repository in each window in which it has one. `asOf` ends all windows: a repository whose newest
 * snapshot is from before a window has none in it.
 */
export function growthOf({ readings, pushedAt }: Past, asOf: number): Growth[] {
  const to = readings.reading(readings.length - 1);
  let all: Anomaly[] | undefined;
  return WINDOWS.flatMap((window): Growth[] => {
    const length = windowMs(window);
    if (to.at < asOf - length) return [];
    const place = placeOfFrom(readings, to.at, length);
    if (place === undefined || place === readings.length - 1) return [];
    const from = readings.reading(place);
    all ??= mayBeStrange(readings) ? findAnomalies(readings.all(), pushedAt) : [];
    const anomalies = all.filter((anomaly) => anomaly.at >= from.at && anomaly.at <= to.at);
    const counted = countedPart(anomalies, from.at, to.at, to.stars - from.stars);
    return [{ window, from, to, snapshots: readings.length - place, counted, anomalies }];
  });
}

/** Whether the stars have moved enough for anything to be called strange, which few have. */
function mayBeStrange(readings: Readings): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let place = 0; place < readings.length; place++) {
    const stars = readings.stars(place);
    if (stars < least) least = stars;
    if (stars > most) most = stars;
  }
  return most - least > 0 && most - least >= Math.min(MIN_MOVEMENT, most / 2);
}

/** The place of the snapshot to compare with the one at `to`; see chooseFrom. */
function placeOfFrom(readings: Readings, to: number, length: number): number | undefined {
  const target = to - length;
  let low = 0;
  let high = readings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (readings.at(middle) <= target) low = middle + 1;
    else high = middle;
  }
  const before = low > 0 ? readings.at(low - 1) : null;
  const after = low < readings.length ? readings.at(low) : null;
  const chosen = chooseFrom(to, length, before, after);
  if (chosen === undefined) return undefined;
  return chosen === before ? low - 1 : low;
}
