import { DAY_MS, HOUR_MS } from "../clock.js";
import { axisNumbers, dateText, monthName } from "./numbers.js";

export interface Tick {
  value: number;
  label: string;
}

/** One axis of a chart. */
export interface Axis {
  /** The position of a value along the axis, from 0 to 1. */
  scale(value: number): number;
  ticks: readonly Tick[];
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
  return { scale: (value) => (value - from) / (to - from), ticks: named(multiples(from, to, step)) };
}

/** Multiples of powers of ten that are labelled when there is room. */
const FACTORS = [[1], [1, 3], [1, 2, 5]] as const;

/**
 * A logarithmic axis of counts, with round steps if they are within one order of magnitude. If they include 0, it uses the
 * logarithm of the count plus one.
 */
export function logAxis(min: number, max: number, count: number): Axis {
  const hasZero = min < 1;
  const height = (value: number) => Math.log10(Math.max(hasZero ? 0 : 1, value) + (hasZero ? 1 : 0));
  const isNarrow = !hasZero && max < 10 * min;
  const step = roundStep((max === min ? max * 0.1 : max - min) / Math.max(1, count));
  const from = hasZero ? 0 : isNarrow && min >= step ? Math.floor(min / step) * step : roundDown(min);
  const to = isNarrow ? Math.max(Math.ceil(max / step) * step, from + step) : Math.max(roundStep(max), 10);
  const scale = (value: number) => (height(value) - height(from)) / (height(to) - height(from));
  return { scale, ticks: named(isNarrow ? multiples(from, to, step) : logTicks(from, to, count)) };
}

const roundDown = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.floor(value / power + 1e-9) * power;
};

/** Round counts of an axis that starts at 0 or at 1 or more. */
function logTicks(from: number, to: number, count: number): number[] {
  const zero = from === 0 ? [0] : [];
  const powers = Array.from({ length: 17 }, (_, i) => 10 ** i);
  const choices = FACTORS.map((factors) =>
    powers.flatMap((power) => factors.map((factor) => factor * power)),
  );
  const shown = choices.map((values) => [...zero, ...values.filter((value) => value >= from && value <= to)]);
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

const MONTH_MS = 30.4375 * DAY_MS;
const YEAR_MS = 365.25 * DAY_MS;

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

const ageUnit = (unit: number, step: number, name: string): TimeStep => ({
  ms: unit * step,
  ticks: (from, to) =>
    multiples(from, to, unit * step).map((value) => ({
      value,
      label: value === 0 ? "0" : `${Math.round(value / unit)} ${name}`,
    })),
});

const AGE_STEPS: readonly TimeStep[] = [
  ...[1, 2, 5, 10, 20, 30].map((step) => ageUnit(DAY_MS, step, "d")),
  ...[2, 3, 6].map((step) => ageUnit(MONTH_MS, step, "mo")),
  ...[1, 2, 5, 10, 20].map((step) => ageUnit(YEAR_MS, step, "y")),
];

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
  return { scale: (value) => (value - from) / (to - from), ticks };
}

/** An axis of ages in ms. Starts at 0 unless the first age is far from it. */
export function ageAxis(min: number, max: number, count: number): Axis {
  const from = min < (max - min) / 4 || min === max ? 0 : min;
  const to = max > from ? max : from + DAY_MS;
  return { scale: (value) => (value - from) / (to - from), ticks: fitTicks(AGE_STEPS, [from, to], count) };
}
