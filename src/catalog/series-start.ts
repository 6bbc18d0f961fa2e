import { byBasis } from "./basis.js";
import type { Readings } from "./snapshots/snapshots.js";

/** The times of the last snapshot at or before a time, and of the first one after it; null if there is none. */
interface Around {
  before: number | null;
  after: number | null;
}

/**
 * Which of two snapshots is compared with the newest one, taken at `to`: the one nearer to `to - lengthMs`, the earlier when
 * both are equally near. Only snapshots 0.5 to 2 windows before `to` qualify; undefined when neither does.
 */
export function chooseFrom(to: number, lengthMs: number, { before, after }: Around): number | undefined {
  const target = to - lengthMs;
  const early = before !== null && to - before <= 2 * lengthMs ? before : undefined;
  const late = after !== null && to - after >= lengthMs / 2 ? after : undefined;
  if (early === undefined || late === undefined) return early ?? late;
  return target - early <= late - target ? early : late;
}

/**
 * The time of the snapshot at which the series of a window begins, for a window of `lengthMs` that ends at `asOf`: the one a
 * trend of this length starts at, so that series and trend show the same gain; or before it, if RETAINED counts lead up to it
 * within the window. Without a trend, the last snapshot at or before the start of the window, else the first one in it.
 * Undefined when the window has no snapshot. `readings` have all columns and begin with the last snapshot at or before the start
 * of a window of twice the length.
 */
export function seriesStart(readings: Readings, asOf: number, lengthMs: number): number | undefined {
  if (readings.length === 0) return undefined;
  const start = asOf - lengthMs;
  if (readings.at(readings.length - 1) < start) return undefined;
  const { TOTAL, RETAINED } = byBasis(readings);
  const from = trendStart(TOTAL, lengthMs);
  if (from === undefined) return trendStart(RETAINED, lengthMs) ?? nearest(around(readings, start));
  if (from <= start || RETAINED.length === 0) return from;
  return Math.min(from, around(RETAINED, start).after ?? from);
}

/** Where a trend that ends at the last of these readings starts. */
function trendStart(readings: Readings, lengthMs: number): number | undefined {
  if (readings.length === 0) return undefined;
  const to = readings.at(readings.length - 1);
  const from = chooseFrom(to, lengthMs, around(readings, to - lengthMs));
  return from === to ? undefined : from;
}

function nearest({ before, after }: Around): number | undefined {
  return before ?? after ?? undefined;
}

function around(times: Readings, at: number): Around {
  const next = times.countBefore(at + 1);
  return {
    before: next > 0 ? times.at(next - 1) : null,
    after: next < times.length ? times.at(next) : null,
  };
}
