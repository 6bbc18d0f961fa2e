import { DAY_MS } from "../lib/clock.js";

/** Formats of numbers and times in pictures: English, UTC, independent of the machine's locale. */

const UNITS = ["", "K", "M", "B", "T"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** With thousands separators: 1,234,567. */
export function exactNumber(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** With its sign: +1,234, −12, or ±0. */
export function signedNumber(value: number): string {
  if (value === 0) return "±0";
  return `${value > 0 ? "+" : "−"}${exactNumber(Math.abs(value))}`;
}

/** Abbreviated: 987, 12.3K, 1.2M. */
export function shortNumber(value: number, decimals = 1): string {
  let unit = 0;
  let scaled = value;
  // A value that rounds to 1000 of a unit becomes 1 of the next.
  while (unit < UNITS.length - 1 && Number(scaled.toFixed(unit === 0 ? 0 : decimals)) >= 1_000) {
    scaled /= 1_000;
    unit++;
  }
  const text = scaled.toFixed(unit === 0 ? 0 : decimals);
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text}${UNITS[unit]}`;
}

/** Abbreviated, with its sign: +1.2K, −987, +0.4, ±0. Fractions only below 10. */
export function signedShort(value: number): string {
  const size = Math.abs(value) < 10 ? Number(Math.abs(value).toFixed(1)) : Math.round(Math.abs(value));
  if (size === 0) return "±0";
  return `${value > 0 ? "+" : "−"}${size < 10 ? size : shortNumber(size)}`;
}

/** A gain per day in full: +1,234, −0.4, ±0. Fractions only below 10. */
export function signedRate(value: number): string {
  const isSmall = Math.abs(value) < 10 && Number(Math.abs(value).toFixed(1)) % 1 !== 0;
  return isSmall
    ? `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(1)}`
    : signedNumber(Math.round(value) || 0);
}

/** Labels of an axis: all abbreviated if that is exact and keeps them distinct, otherwise all in full. */
export function axisNumbers(values: readonly number[]): string[] {
  for (const decimals of [0, 1]) {
    const short = values.map((value) => shortNumber(value, decimals));
    const isExact = values.every(
      (value, i) => Math.abs(parse(short[i] ?? "") - value) <= Math.abs(value) * 1e-9,
    );
    if (isExact && new Set(short).size === values.length) return short;
  }
  return values.map(exactNumber);
}

function parse(short: string): number {
  const unit = UNITS.findIndex((name, i) => i > 0 && short.endsWith(name));
  return unit === -1 ? Number(short) : Number(short.slice(0, -1)) * 1_000 ** unit;
}

export function monthName(month: number): string {
  return MONTHS[month] ?? "";
}

/** 30 Apr 2026. */
export function dateText(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${monthName(date.getUTCMonth())} ${date.getUTCFullYear()}`;
}

/** A date with its age in days, unless that is 0 or unknown: 30 Apr 2026, 90 days ago. */
export function agedDate(at: number, ageDays: number | null = 0): string {
  if (ageDays === null || ageDays === 0) return dateText(at);
  return `${dateText(at)}, ${exactNumber(ageDays)} ${ageDays === 1 ? "day" : "days"} ago`;
}

/** A range of dates; the year appears once if it is the same. */
export function datesText(from: number, to: number): string {
  const [first, last] = [dateText(from), dateText(to)];
  if (first === last) return first;
  const isOneYear = new Date(from).getUTCFullYear() === new Date(to).getUTCFullYear();
  return `${isOneYear ? first.slice(0, -5) : first} – ${last}`;
}

/** The units of ages. */
export const AGE_UNITS = {
  day: { ms: DAY_MS, short: "d" },
  month: { ms: 30.4375 * DAY_MS, short: "mo" },
  year: { ms: 365.25 * DAY_MS, short: "y" },
} as const;
export type AgeUnit = keyof typeof AGE_UNITS;

/** An age in a unit: 12 days, 5 months, 2.5 years. */
export function ageText(ms: number, unit: AgeUnit): string {
  const value = ms / AGE_UNITS[unit].ms;
  const shown = unit === "day" ? Math.round(value) : Math.round(value * 10) / 10;
  return `${shown.toLocaleString("en-US")} ${unit}${shown === 1 ? "" : "s"}`;
}
