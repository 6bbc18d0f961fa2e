/** Made-up series of readings, and what is judged of them. */

import type { Anomaly, Reading } from "../../src/growth/anomalies.js";
import { readingsOf } from "../../src/growth/cleaning.js";
import { type Judgement, judge } from "../../src/growth/judge.js";
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

/** What is said of readings: which are left out, by index, and what of the gains does not count. */
export function judged(
  readings: readonly Reading[],
): Judgement & { anomalies: Anomaly[]; doubtful: boolean[] } {
  const own = series(readings);
  const judgement = judge(own);
  const anomalies = [...own.anomalies, ...judgement.anomalies].sort((a, b) => a.at - b.at);
  const kept = new Set(Array.from({ length: own.points.length }, (_, i) => own.points.at(i)));
  return { ...judgement, anomalies, doubtful: readings.map(({ at }) => !kept.has(at)) };
}

export const kinds = (readings: readonly Reading[]): string[] =>
  judged(readings).anomalies.map(
    ({ kind, at, until }) => `${kind} ${at / DAY_MS}${until === at ? "" : `–${until / DAY_MS}`}`,
  );

/** The gain from the first to the last reading that counts. */
export function counted(readings: readonly Reading[]): number {
  const { uncounted, doubtful } = judged(readings);
  const last = readings.findLast((_, i) => doubtful[i] !== true);
  const gained = (last?.stars ?? 0) - (readings[0]?.stars ?? 0);
  return Math.round(gained - uncounted.reduce((sum, { stars }) => sum + stars, 0));
}
