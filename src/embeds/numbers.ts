import { DAY_MS } from "../clock.js";

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

/** An age in the best unit: 12 days, 5 months, 2.5 years. */
export function ageText(ms: number): string {
  const days = ms / DAY_MS;
  const inUnit = (value: number, unit: string) => `${value} ${unit}${value === 1 ? "" : "s"}`;
  if (days < 60) return inUnit(Math.round(days), "day");
  if (days < 700) return inUnit(Math.round(days / 30.4375), "month");
  return inUnit(Math.round(days / 36.525) / 10, "year");
}
