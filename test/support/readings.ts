/** Made-up series of readings, and what is judged of them. */

import type { Anomaly, Reading } from "../../src/growth/anomalies.js";
import { readingsOf } from "../../src/growth/cleaning.js";
import { type Series, seriesOf } from "../../src/growth/series.js";
import { DAY_MS } from "../../src/lib/clock.js";

interface More {
  forks?: readonly (number | null)[];
  issues?: readonly number[];
}

/** One reading a day; forks and issues are unknown unless given. */
export function days(stars: readonly number[], more: More = {}): Reading[] {
  return stars.map((count, day) => ({
    at: day * DAY_MS,
    stars: count,
    forks: more.forks?.[day] ?? null,
    openIssues: more.issues?.[day] ?? null,
    watchers: null,
    source: "OBSERVED",
  }));
}

/** Counts that grow by a step a day. */
export const ramp = (from: number, step: number, length: number): number[] =>
  Array.from({ length }, (_, day) => from + day * step);

/** The series of a repository that has these readings and nothing else. */
export const series = (readings: readonly Reading[]): Series =>
  seriesOf({ readings: readingsOf(readings), createdAt: null, isHistoryWhole: true });

/** What is said of readings, and which are left out, by index. */
export function judged(readings: readonly Reading[]): { anomalies: readonly Anomaly[]; doubtful: boolean[] } {
  const { anomalies, points } = series(readings);
  const kept = new Set(Array.from({ length: points.length }, (_, i) => points.at(i)));
  return { anomalies, doubtful: readings.map(({ at }) => !kept.has(at)) };
}

export const kinds = (readings: readonly Reading[]): string[] =>
  judged(readings).anomalies.map(
    ({ kind, at, until }) => `${kind} ${at / DAY_MS}${until === at ? "" : `–${until / DAY_MS}`}`,
  );

/** The gain from the first to the last reading that is believed. */
export function counted(readings: readonly Reading[]): number {
  const { points } = series(readings);
  return points.stars(points.length - 1) - points.stars(0);
}
