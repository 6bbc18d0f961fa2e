import { HOUR_MS } from "../clock.js";

/** The windows over which growth is measured. */
export const WINDOWS = ["24h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];

/** Length of each in hours, as stored. */
export const WINDOW_HOURS: Readonly<Record<Window, number>> = { "24h": 24, "7d": 168, "30d": 720 };

/** The window of a stored length; undefined for one that is none. */
export function windowOfHours(hours: number): Window | undefined {
  return WINDOWS.find((window) => WINDOW_HOURS[window] === hours);
}

export function windowMs(window: Window): number {
  return WINDOW_HOURS[window] * HOUR_MS;
}

/**
 * Which of two snapshots is compared with the newest one: the one nearer to `to - window`, the earlier when both are
 * equally near. Only those at a distance of 0.5 to 2 windows from `to` count; none: there is no trend.
 * `before` is the last one at or before `to - window`, `after` the first one later than that.
 */
export function chooseFrom(
  to: number,
  lengthMs: number,
  before: number | null,
  after: number | null,
): number | undefined {
  const target = to - lengthMs;
  const early = before !== null && to - before <= 2 * lengthMs ? before : undefined;
  const late = after !== null && to - after >= lengthMs / 2 ? after : undefined;
  if (early === undefined || late === undefined) return early ?? late;
  return target - early <= late - target ? early : late;
}
