import { HOUR_MS } from "../clock.js";

/** The windows over which growth is measured. */
export const WINDOWS = ["24h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];

/** Length in hours, as stored in `window_hours`. */
export const WINDOW_HOURS: Readonly<Record<Window, number>> = { "24h": 24, "7d": 168, "30d": 720 };

/** Names of the windows in English. */
export const WINDOW_LABELS: Readonly<Record<Window, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
};

/** The same for narrow columns. */
export const WINDOW_SHORT_LABELS: Readonly<Record<Window, string>> = {
  "24h": "24 h",
  "7d": "7 d",
  "30d": "30 d",
};

/** The window with this length in hours; undefined if no window has it. */
export function windowOfHours(hours: number): Window | undefined {
  return WINDOWS.find((window) => WINDOW_HOURS[window] === hours);
}

export function windowMs(window: Window): number {
  return WINDOW_HOURS[window] * HOUR_MS;
}

/** A record with one value per window. */
export function perWindow<T>(value: (window: Window) => T): Record<Window, T> {
  return { "24h": value("24h"), "7d": value("7d"), "30d": value("30d") };
}
