import { basisOf } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import { datesText, dateText, exactNumber } from "./numbers.js";
import { type ChartPoint, isBroken } from "./series.js";
import type { ChartSpan } from "./spans.js";

/** When a total first reached a round number. */
export interface Milestone {
  value: number;
  /** The first point that has reached it, and the one before. */
  point: ChartPoint;
  before: ChartPoint;
}

/** 1,000, 5,000, 10,000, 50,000, … */
const THRESHOLDS = Array.from({ length: 7 }, (_, i) => [10 ** (i + 3), 5 * 10 ** (i + 3)]).flat();
/** More would clutter a chart. The highest are shown. */
const MAX_MILESTONES = 4;

/**
 * The milestones that a line reaches within its points, by totals alone. One that was reached before the first point is none, and
 * neither is one that only a doubtful count reaches.
 */
export function milestonesOf(points: readonly ChartPoint[], spans: readonly ChartSpan[]): Milestone[] {
  const isDoubtful = (at: number) => spans.some((one) => one.isDoubtful && at >= one.from && at <= one.to);
  const found: Milestone[] = [];
  let highest = Number.POSITIVE_INFINITY;
  let before: ChartPoint | undefined;
  for (const point of points) {
    if (basisOf(point.source) !== "TOTAL") continue;
    if (isDoubtful(point.at)) continue;
    const reached = THRESHOLDS.filter((value) => value > highest && value <= point.value);
    const value = reached.at(-1);
    if (value !== undefined && before !== undefined && !isBroken(before, point))
      found.push({ value, point, before });
    highest = highest === Number.POSITIVE_INFINITY ? point.value : Math.max(highest, point.value);
    before = point;
  }
  return found.slice(-MAX_MILESTONES);
}

/** "reached 50,000 on 3 Aug 2026"; "between 3 and 9 Aug" where no snapshot was taken in between. */
export function milestoneWords({ value, point, before }: Milestone): string {
  const when =
    point.at - before.at < 1.75 * DAY_MS
      ? `on ${dateText(point.at)}`
      : `between ${datesText(before.at, point.at).replace(" – ", " and ")}`;
  return `reached ${exactNumber(value)} ${when}`;
}
