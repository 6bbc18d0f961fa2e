import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import {
  AGE_UNITS,
  type AgeUnit,
  ageUnitOf,
  axisNumbers,
  dateText,
  dayText,
  exactNumber,
  signedShort,
} from "./numbers.js";
import { type Alignment, isByDate } from "./series.js";

interface Tick {
  value: number;
  label: string;
}

/** The values at both ends of an axis, and how those between them are placed: `log`: by the logarithm of the value plus one. */
export interface Domain {
  kind: "linear" | "log";
  from: number;
  to: number;
}

export interface Axis {
  domain: Domain;
  /** The position of a value along the axis, from 0 to 1. */
  scale(value: number): number;
  ticks: readonly Tick[];
}

/** The area of a picture's lines, and its scales, in pixels. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x(at: number): number;
  y(value: number): number;
  /** Font size of labels. */
  size: number;
}

/** Heights of values by kind of axis; the script of pages (web/client/chart-data.ts) has the same. */
const HEIGHTS: Readonly<Record<Domain["kind"], (value: number) => number>> = {
  linear: (value) => value,
  log: (value) => Math.log10(Math.max(0, value) + 1),
};

function axisOf(domain: Domain, ticks: readonly Tick[]): Axis {
  const height = HEIGHTS[domain.kind];
  const [from, to] = [height(domain.from), height(domain.to)];
  return { domain, scale: (value) => (height(value) - from) / (to - from), ticks };
}

/** The smallest of 1, 2, 2.5 or 5 times a power of ten that is not below `value`; whole, since counts are. */
function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power);
  return steps.find((step) => Number.isInteger(step) && step >= value * (1 - 1e-9)) ?? 10 * power;
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
  const padding = max === min ? Math.max(1, Math.round(max * 0.02)) : 0;
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
export function gainAxis(values: readonly number[], count: number): Axis {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
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

/** A logarithmic axis of counts, with round steps within one order of magnitude. Its first tick is not above `min`. */
export function logAxis(min: number, max: number, count: number): Axis {
  if (min >= 1 && max < 10 * min) {
    const step = roundStep((max === min ? max * 0.1 : max - min) / Math.max(1, count));
    const from = Math.max(1, Math.floor(min / step) * step);
    const to = Math.max(Math.ceil(max / step) * step, from + step);
    const above = multiples(from, to, step).filter((value) => value > from);
    return axisOf({ kind: "log", from, to }, named([from, ...above]));
  }
  const to = Math.max(roundStep(max), 10);
  const zero = min < 1 ? [0] : [];
  const powers = Array.from({ length: 17 }, (_, i) => 10 ** i);
  const choices = FACTORS.map((factors) => {
    const all = [...zero, ...powers.flatMap((power) => factors.map((factor) => factor * power))];
    return all.slice(all.findLastIndex((value) => value <= min)).filter((value) => value <= to);
  });
  const [fewest = []] = choices;
  const nth = Math.ceil(fewest.length / Math.max(1, count));
  const ticks =
    choices.findLast((values) => values.length <= count + 1) ?? fewest.filter((_, i) => i % nth === 0);
  return axisOf({ kind: "log", from: ticks[0] ?? 0, to }, named(ticks));
}

/** A division of a time axis: the distance of ticks, and the ticks of a range. */
interface TimeStep {
  ms: number;
  ticks(from: number, to: number): Tick[];
}

/** Ticks at the multiples of a time since `begin`. */
const every = (ms: number, label: (at: number) => string, begin = 0): TimeStep => ({
  ms,
  ticks: (from, to) =>
    multiples(from - begin, to - begin, ms).map((at) => ({ value: at + begin, label: label(at + begin) })),
});

const hourText = (at: number): string =>
  at % DAY_MS === 0 ? dayText(at) : new Date(at).toISOString().slice(11, 16);
/** A Monday, on which weeks begin. */
const MONDAY = 4 * DAY_MS;

/** Months since 1970. */
const monthOf = (at: number): number => {
  const date = new Date(at);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
};

const months = (step: number): TimeStep => ({
  ms: step * AGE_UNITS.month.ms,
  ticks: (from, to) =>
    multiples(monthOf(from), monthOf(to), step).flatMap((month) => {
      const value = Date.UTC(1970, month);
      const [, name = "", year = ""] = dateText(value).split(" ");
      return value < from ? [] : [{ value, label: month % 12 === 0 ? year : name }];
    }),
});

const DATE_STEPS: readonly TimeStep[] = [
  ...[1, 3, 6, 12].map((step) => every(step * HOUR_MS, hourText)),
  ...[1, 2, 7, 14].map((step) => every(step * DAY_MS, dayText, MONDAY)),
  ...[1, 2, 3, 6, 12, 24, 60, 120, 240].map(months),
];

/** The numbers of units between ticks of ages. */
const AGE_STEPS: Readonly<Record<AgeUnit, readonly number[]>> = {
  day: [1, 2, 5, 10, 20, 30, 60],
  month: [1, 2, 3, 6, 12],
  year: [1, 2, 5, 10, 20],
};

/** The ticks of the smallest step that makes at most about `count` of them. */
const fitTicks = (steps: readonly TimeStep[], [from, to]: readonly [number, number], count: number): Tick[] =>
  (steps.find(({ ms }) => (to - from) / ms <= count) ?? steps.at(-1))?.ticks(from, to) ?? [];

/** A time axis with at most about `count` ticks, at the start of hours, days, months or years (UTC). */
export function dateAxis(min: number, max: number, count: number): Axis {
  const [from, to] = min === max ? [min - DAY_MS / 2, max + DAY_MS / 2] : [min, max];
  const ticks = fitTicks(DATE_STEPS, [from, to], count);
  const [first] = ticks;
  // Add the year to the first month if no tick shows it.
  if (first !== undefined && ticks.every(({ label }) => /^[A-Z]/.test(label)))
    first.label += ` ${new Date(first.value).getUTCFullYear()}`;
  const middle = (from + to) / 2;
  if (first === undefined) ticks.push({ value: middle, label: dateText(middle) });
  return axisOf({ kind: "linear", from, to }, ticks);
}

/** A time axis of dates or ages, with at most about `count` ticks. */
export function timeAxis(align: Alignment, [first, last]: readonly [number, number], count: number): Axis {
  const most = Math.max(2, Math.floor(count));
  if (isByDate(align)) return dateAxis(first, last, most);
  return ageAxis([first, last], ageUnitOf(last - first), most);
}

/** The axis up to a value, and its ticks. */
export const upTo = ({ domain, ticks }: Axis, to: number): Axis =>
  axisOf(
    { ...domain, to },
    ticks.filter(({ value }) => value <= to),
  );

/** The part of an axis that may be beyond the newest count. */
const SLACK = 1 / 32;

/** The end of an axis of length `span` to a value, a little above it: while it stays, all but the newest points stay, and git stores only these. */
export function endOfAxis(value: number, span: number, unit = 1): number {
  const step = 2 ** Math.floor(Math.log2((span * SLACK) / unit)) * unit;
  return step < unit ? value : Math.ceil(value / step) * step;
}

/** An axis of ages in ms. Starts at 0 unless the first age is far from it. */
export function ageAxis([min, max]: readonly [number, number], unit: AgeUnit, count: number): Axis {
  const from = min < (max - min) / 4 || min === max ? 0 : min;
  const to = max > from ? max : from + DAY_MS;
  const { ms, short } = AGE_UNITS[unit];
  const label = (age: number) => (age === 0 ? "0" : `${exactNumber(age / ms)} ${short}`);
  const steps = AGE_STEPS[unit].map((step) => every(step * ms, label));
  return axisOf({ kind: "linear", from, to }, fitTicks(steps, [from, to], count));
}
