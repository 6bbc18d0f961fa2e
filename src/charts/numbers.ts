import { DAY_MS } from "../lib/clock.js";

/** Formats of numbers and times in pictures: English, UTC, independent of the machine's locale. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
/** From 10,000 trillion on, which no count is, as a power of ten: 1.2E17. */
function compact(maximumFractionDigits: number): (value: number) => string {
  const written = (notation: "compact" | "scientific") =>
    new Intl.NumberFormat("en-US", { notation, maximumFractionDigits });
  const [named, raised] = [written("compact"), written("scientific")];
  return (value) => (Math.abs(value) < 1e16 ? named : raised).format(value);
}
const short = compact(1);
const unrounded = compact(12);

/** With thousands separators: 1,234,567. */
export const exactNumber = (value: number): string => whole.format(value);

/** Abbreviated: 987, 12.3K, 1.2M. */
export const shortNumber = (value: number): string => short(value);

const withSign = (value: number, text: string): string => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${text}`;

/** With its sign: +1,234, −12, or ±0. */
export const signedNumber = (value: number): string => withSign(value, exactNumber(Math.abs(value)));

/** Fractions only below 10. */
const roundRate = (value: number): number =>
  Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value);

/** A gain per day: +1,234, −0.4, ±0. */
export const signedRate = (value: number): string =>
  withSign(roundRate(value), decimal.format(Math.abs(roundRate(value))));

/** The same, abbreviated: +1.2K. */
export const signedShort = (value: number): string =>
  withSign(roundRate(value), shortNumber(Math.abs(roundRate(value))));

/** Labels of an axis: all abbreviated if that is exact, otherwise all in full. */
export function axisNumbers(values: readonly number[]): string[] {
  const isExact = values.every((value) => short(value) === unrounded(value));
  return values.map(isExact ? shortNumber : exactNumber);
}

/** "1 gap", "2 gaps". */
export const plural = (count: number, noun: string): string =>
  `${decimal.format(count)} ${noun}${count === 1 ? "" : "s"}`;

/** 30 Apr 2026. */
export const dateText = (ms: number): string => new Date(ms).toUTCString().slice(5, 16).replace(/^0/, "");

/** 30 Apr */
export const dayText = (ms: number): string => dateText(ms).slice(0, -5);

/** A date with its age in days, unless that is 0 or unknown: 30 Apr 2026, 90 days ago. */
export function agedDate(at: number, ageDays: number | null = 0): string {
  return `${dateText(at)}${ageDays === null || ageDays === 0 ? "" : `, ${plural(ageDays, "day")} ago`}`;
}

/** A range of dates; the year appears once if it is the same. */
export function datesText(from: number, to: number): string {
  const [first, last] = [dateText(from), dateText(to)];
  if (first === last) return first;
  return `${first.slice(-4) === last.slice(-4) ? first.slice(0, -5) : first} – ${last}`;
}

/** The units of ages. */
export const AGE_UNITS = {
  day: { ms: DAY_MS, short: "d" },
  month: { ms: 30.4375 * DAY_MS, short: "mo" },
  year: { ms: 365.25 * DAY_MS, short: "y" },
} as const;
export type AgeUnit = keyof typeof AGE_UNITS;

/** The unit of ages that are at most `spanMs` apart; axis and texts of a chart have the same. */
export function ageUnitOf(spanMs: number): AgeUnit {
  if (spanMs < 120 * DAY_MS) return "day";
  return spanMs < 3 * AGE_UNITS.year.ms ? "month" : "year";
}

/** An age in a unit: 12 days, 5 months, 2.5 years. */
export function ageText(ms: number, unit: AgeUnit): string {
  const value = ms / AGE_UNITS[unit].ms;
  return plural(unit === "day" ? Math.round(value) : Math.round(value * 10) / 10, unit);
}
