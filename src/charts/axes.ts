import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import {
  AGE_UNITS,
  type AgeUnit,
  axisNumbers,
  dateText,
  exactNumber,
  monthName,
  signedShort,
} from "./numbers.js";

export interface Tick {
  value: number;
  label: string;
}

/** The values at both ends of an axis, and how those between them are placed. `log1p`: by the logarithm of the value plus one. */
export interface Domain {
  kind: "linear" | "log" | "log1p";
  from: number;
  to: number;
}

/** One axis of a chart. */
export interface Axis {
  domain: Domain;
  /** The position of a value along the axis, from 0 to 1. */
  scale(value: number): number;
  ticks: readonly Tick[];
}

/** Heights of values by kind of axis; the script of pages (web/client/chart-data.ts) has the same. */
const HEIGHTS: Readonly<Record<Domain["kind"], (value: number) => number>> = {
  linear: (value) => value,
  log: (value) => Math.log10(Math.max(1, value)),
  log1p: (value) => Math.log10(Math.max(0, value) + 1),
};

function axisOf(domain: Domain, ticks: readonly Tick[]): Axis {
  const height = HEIGHTS[domain.kind];
  const [from, to] = [height(domain.from), height(domain.to)];
  return { domain, scale: (value) => (height(value) - from) / (to - from), ticks };
}

/** The smallest of 1, 2 or 5 times a power of ten that is not below `value`; at least 1, since counts are whole numbers. */
function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= value * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
}

const named = (values: readonly number[]): Tick[] => {
  const labels = axisNumbers(values);
  return values.map((value, i) => ({ value, label: labels[i] ?? "" }));
};

/** A linear axis of counts with about `count` ticks. Starts at 0 unless that would flatten the lines. */
export function linearAxis(min: number, max: number, count: number): Axis {
  const isFlat = max === min;
  const padding = isFlat ? Math.max(1, Math.round(max * 0.02)) : 0;
  const bottom = max - min > max / 2 || min - padding <= 0 ? 0 : min - padding;
  const top = max + padding;
  const step = roundStep((top - bottom) / Math.max(1, count));
  const from = Math.floor(bottom / step) * step;
  const round = Math.max(Math.ceil(top / step), Math.floor(from / step) + 1) * step;
  // Do not round the end up if that would leave much empty space.
  const to = round - top > 0.4 * step && round - from > step ? top + 0.06 * (top - from) : round;
  return axisOf({ kind: "linear", from, to }, named(multiples(from, to, step)));
}

/** A linear axis of gains per day, which contains 0. */
export function gainAxis(min: number, max: number, count: number): Axis {
  const [low, high] = [Math.min(0, min), Math.max(0, max)];
  // Few repositories gain whole stars every day, so its steps may be tenths.
  const step = roundStep((10 * Math.max(high - low, 0.5)) / Math.max(1, count)) / 10;
  const from = Math.floor(low / step + 1e-9) * step;
  const to = Math.max(Math.ceil(high / step - 1e-9), Math.round(from / step) + 1) * step;
  const ticks = multiples(from, to, step).map((value) => ({
    value,
    label: Math.abs(value) < step / 2 ? "0" : signedShort(value),
  }));
  return axisOf({ kind: "linear", from, to }, ticks);
}

/** Multiples of powers of ten that are labelled when there is room. */
const FACTORS = [[1], [1, 3], [1, 2, 5]] as const;

/**
 * A logarithmic axis of counts, with round steps if they are within one order of magnitude. If they include 0, it uses the
 * logarithm of the count plus one.
 */
export function logAxis(min: number, max: number, count: number): Axis {
  const hasZero = min < 1;
  const isNarrow = !hasZero && max < 10 * min;
  const step = roundStep((max === min ? max * 0.1 : max - min) / Math.max(1, count));
  if (isNarrow) {
    const from = min >= step ? Math.floor(min / step) * step : roundDown(min);
    const to = Math.max(Math.ceil(max / step) * step, from + step);
    const above = multiples(from, to, step).filter((value) => value > from);
    return axisOf({ kind: "log", from, to }, named([from, ...above]));
  }
  const to = Math.max(roundStep(max), 10);
  const ticks = logTicks(hasZero ? 0 : roundDown(min), to, count);
  const from = Math.min(ticks[0] ?? 0, hasZero ? 0 : roundDown(min));
  return axisOf({ kind: hasZero ? "log1p" : "log", from, to }, named(ticks));
}

const roundDown = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.floor(value / power + 1e-9) * power;
};

/** Round counts of an axis that starts at 0 or at 1 or more: the first is not above `from`, so that each line has a label below it. */
function logTicks(from: number, to: number, count: number): number[] {
  const zero = from === 0 ? [0] : [];
  const powers = Array.from({ length: 17 }, (_, i) => 10 ** i);
  const shown = FACTORS.map((factors) => {
    const all = powers.flatMap((power) => factors.map((factor) => factor * power));
    const begin = all.findLast((value) => value <= from) ?? from;
    return [...zero, ...all.filter((value) => value >= begin && value <= to)];
  });
  const best = shown.findLast((values) => values.length <= count + 1);
  if (best !== undefined) return best;
  const most = shown[0] ?? [];
  const every = Math.ceil(most.length / Math.max(1, count));
  return most.filter((_, i) => i % every === 0);
}

/** A division of a time axis: the distance of ticks, and the ticks of a range. */
interface TimeStep {
  ms: number;
  ticks(from: number, to: number): Tick[];
}

const MONTH_MS = AGE_UNITS.month.ms;

const hours = (step: number): TimeStep => ({
  ms: step * HOUR_MS,
  ticks: (from, to) =>
    multiples(from, to, step * HOUR_MS).map((value) => {
      const date = new Date(value);
      const hour = date.getUTCHours();
      return { value, label: hour === 0 ? dayText(date) : `${String(hour).padStart(2, "0")}:00` };
    }),
});

/** Every `step` days from the first of each month, except days too close to the next first. */
const days = (step: number): TimeStep => ({
  ms: step * DAY_MS,
  ticks: (from, to) =>
    multiples(from, to, DAY_MS).flatMap((value) => {
      const date = new Date(value);
      const day = date.getUTCDate() - 1;
      const isShown = day % step === 0 && (step === 1 || day + step / 2 < 30);
      return isShown ? [{ value, label: dayText(date) }] : [];
    }),
});

const months = (step: number): TimeStep => ({
  ms: step * MONTH_MS,
  ticks: (from, to) => {
    const ticks: Tick[] = [];
    const first = monthsOf(from);
    for (let month = Math.ceil(first / step) * step; ; month += step) {
      const value = Date.UTC(Math.floor(month / 12), month % 12, 1);
      if (value > to) return ticks;
      if (value < from) continue;
      ticks.push({ value, label: month % 12 === 0 ? String(month / 12) : monthName(month % 12) });
    }
  },
});

const monthsOf = (ms: number): number => {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

const dayText = (date: Date): string => `${date.getUTCDate()} ${monthName(date.getUTCMonth())}`;

const DATE_STEPS: readonly TimeStep[] = [
  ...[1, 3, 6, 12].map(hours),
  ...[1, 2, 7, 14].map(days),
  ...[1, 2, 3, 6, 12, 24, 60, 120, 240].map(months),
];

/** The numbers of units between ticks of ages. */
const AGE_STEPS: Readonly<Record<AgeUnit, readonly number[]>> = {
  day: [1, 2, 5, 10, 20, 30, 60],
  month: [1, 2, 3, 6, 12],
  year: [1, 2, 5, 10, 20],
};

/** The unit of ages that are at most `spanMs` apart; axis and texts of a chart have the same. */
export function ageUnitOf(spanMs: number): AgeUnit {
  if (spanMs < 120 * DAY_MS) return "day";
  return spanMs < 3 * AGE_UNITS.year.ms ? "month" : "year";
}

function ageSteps(unit: AgeUnit): TimeStep[] {
  const { ms, short } = AGE_UNITS[unit];
  return AGE_STEPS[unit].map((step) => ({
    ms: ms * step,
    ticks: (from, to) =>
      multiples(from, to, ms * step).map((value) => ({
        value,
        label: value === 0 ? "0" : `${exactNumber(value / ms)} ${short}`,
      })),
  }));
}

/** The ticks of the smallest step that makes at most about `count` of them. */
const fitTicks = (steps: readonly TimeStep[], [from, to]: readonly [number, number], count: number): Tick[] =>
  (steps.find(({ ms }) => (to - from) / ms <= count) ?? steps.at(-1))?.ticks(from, to) ?? [];

/** Half the width of a time axis with a single time. */
const SINGLE_MS = DAY_MS / 2;

/** A time axis with at most about `count` ticks, at the start of hours, days, months or years (UTC). */
export function dateAxis(min: number, max: number, count: number): Axis {
  const [from, to] = min === max ? [min - SINGLE_MS, max + SINGLE_MS] : [min, max];
  let ticks = fitTicks(DATE_STEPS, [from, to], count);
  const isInYear = ticks.length > 0 && ticks.every(({ label }) => /^[A-Z]/.test(label));
  // Add the year to the first month if no tick shows it.
  if (isInYear)
    ticks = ticks.map((tick, i) =>
      i === 0 ? { ...tick, label: `${tick.label} ${new Date(tick.value).getUTCFullYear()}` } : tick,
    );
  if (ticks.length === 0) ticks = [{ value: (from + to) / 2, label: dateText((from + to) / 2) }];
  return axisOf({ kind: "linear", from, to }, ticks);
}

/** An axis of ages in ms. Starts at 0 unless the first age is far from it. */
export function ageAxis([min, max]: readonly [number, number], unit: AgeUnit, count: number): Axis {
  const from = min < (max - min) / 4 || min === max ? 0 : min;
  const to = max > from ? max : from + DAY_MS;
  return axisOf({ kind: "linear", from, to }, fitTicks(ageSteps(unit), [from, to], count));
}
