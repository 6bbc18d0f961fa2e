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
