const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = 86_400;
const MONTH = 30.4375 * DAY;
const YEAR = 365.25 * DAY;

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });

/** A count beside an axis. */
export function shortCount(value: number): string {
  return compact.format(value);
}

/** How counts are placed: as they are, or by their order of magnitude. With a 0 among them it is that of the count plus one. */
export interface Scale {
  place(value: number): number;
  /** From and to, in places. */
  range: [number, number];
  /** Places that are named, and the counts there. */
  ticks: { place: number; value: number }[];
}

/** 1, 2 or 5 times a power of ten: the least that is not below `value`. */
function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10);
}

/** A scale for counts from `low` to `high` with about `count` ticks. */
export function scaleFor(kind: "linear" | "log", low: number, high: number, count: number): Scale {
  return kind === "log" ? logScale(low, high, count) : linearScale(low, high, count);
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const length = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
  return Array.from({ length }, (_, i) => (first + i) * step);
}

function linearScale(low: number, high: number, count: number): Scale {
  const padding = high === low ? Math.max(1, Math.round(high * 0.02)) : 0;
  // From 0, unless that would flatten the line.
  const bottom = high - low > high / 2 || low - padding <= 0 ? 0 : low - padding;
  const top = high + padding;
  const step = roundStep((top - bottom) / Math.max(1, count));
  const from = Math.floor(bottom / step) * step;
  const to = top + 0.06 * (top - from);
  return {
    place: (value) => value,
    range: [from, to],
    ticks: multiples(from, to, step).map((value) => ({ place: value, value })),
  };
}

function logScale(low: number, high: number, count: number): Scale {
  const added = low < 1 ? 1 : 0;
  const place = (value: number) => Math.log10(Math.max(value, 1 - added) + added);
  const from = added === 1 ? 0 : low;
  const to = Math.max(high, from * 2, 10);
  const powers = Array.from({ length: 16 }, (_, i) => 10 ** i);
  const choices = [[1, 2, 5], [1, 3], [1]].map((factors) =>
    powers
      .flatMap((power) => factors.map((factor) => factor * power))
      .filter((value) => value >= from && value <= to),
  );
  const rounded = multiples(from, to, roundStep((to - from) / Math.max(1, count)));
  const fitting = choices.find((values) => values.length <= count + 1) ?? choices.at(-1) ?? [];
  const chosen = fitting.length < 3 ? rounded : fitting;
  const values = added === 1 ? [...new Set([0, ...chosen])] : chosen;
  return {
    place,
    range: [place(from), place(to) + 0.03 * (place(to) - place(from))],
    ticks: values.map((value) => ({ place: place(value), value })),
  };
}

interface Tick {
  at: number;
  label: string;
}

/** Ticks of dates in seconds since 1970, at borders of hours, days, months or years (UTC), at most about `count`. */
export function dateTicks(from: number, to: number, count: number): Tick[] {
  const span = to - from;
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find((step) => span / (step * MONTH) <= count) ?? 240;
  const days = [1, 2, 7, 14].find((step) => span / (step * DAY) <= count);
  if (span < 2 * DAY) return hourTicks(from, to, count);
  if (days !== undefined)
    return multiples(from, to, DAY)
      .map((at) => ({ at, date: new Date(at * 1_000) }))
      .filter(({ date }) => isShownDay(date.getUTCDate() - 1, days))
      .map(({ at, date }) => ({ at, label: `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}` }));
  const begin = new Date(from * 1_000);
  const first = begin.getUTCFullYear() * 12 + begin.getUTCMonth();
  const ticks: Tick[] = [];
  for (let month = Math.ceil(first / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1_000;
    if (at > to) return ticks;
    if (at < from) continue;
    const year = String(Math.floor(month / 12));
    const isFirst = ticks.length === 0 && months < 12;
    const name = `${MONTHS[month % 12]}${isFirst ? ` ${year}` : ""}`;
    ticks.push({ at, label: month % 12 === 0 ? year : name });
  }
}

/** Days counted from the first of each month; those too near to the next first are left out. */
function isShownDay(day: number, step: number): boolean {
  return day % step === 0 && (step === 1 || day + step / 2 < 30);
}

function hourTicks(from: number, to: number, count: number): Tick[] {
  const step = ([1, 3, 6, 12].find((hours) => (to - from) / (hours * 3_600) <= count) ?? 24) * 3_600;
  return multiples(from, to, step).map((at) => {
    const date = new Date(at * 1_000);
    const isDay = date.getUTCHours() === 0;
    return {
      at,
      label: isDay ? `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}` : date.toISOString().slice(11, 16),
    };
  });
}

/** Ticks of ages in seconds, at round numbers of days, months or years. */
export function ageTicks(from: number, to: number, count: number): Tick[] {
  const steps: [number, number, string][] = [
    ...[1, 2, 5, 10, 20, 30].map((step): [number, number, string] => [DAY, step, "d"]),
    ...[2, 3, 6].map((step): [number, number, string] => [MONTH, step, "mo"]),
    ...[1, 2, 5, 10].map((step): [number, number, string] => [YEAR, step, "y"]),
  ];
  const [unit, step, name] = steps.find(([ms, times]) => (to - from) / (ms * times) <= count) ?? [
    YEAR,
    20,
    "y",
  ];
  return multiples(from, to, unit * step).map((at) => ({
    at,
    label: at === 0 ? "0" : `${Math.round(at / unit)} ${name}`,
  }));
}

/** 2026-04-30 12:00 UTC */
export function dateText(at: number): string {
  return `${new Date(at * 1_000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** How old something is, in the unit that suits. */
export function ageText(at: number): string {
  const days = at / DAY;
  if (days < 60) return `${Math.round(days)} days`;
  if (days < 700) return `${(days / 30.4375).toFixed(1)} months`;
  return `${(days / 365.25).toFixed(1)} years`;
}
