/** The spans and steps of series, and the snapshot that a window begins at. */
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import type { Readings } from "./snapshots/snapshots.js";

/**
 * Which snapshots of a series are points: all, or the last one of each step of time (UTC; weeks from Monday). Each step is a
 * multiple of the one before it, so thinning twice is the same as thinning by the longer step.
 */
export const STEPS = ["all", "1h", "2h", "6h", "12h", "1d", "1w", "4w"] as const;
export type Step = (typeof STEPS)[number];

/** A series never holds more points than this. */
export const MAX_POINTS = 2_000;
/** One of chosen days never holds more than this. */
const MAX_POINTS_OF_DAYS = 10_000;

/** Which snapshots a series is of: those in a window, or from one time to another. */
export interface SeriesSpan {
  /** Length of the window, which ends with the newest counts of the repository; undefined: everything. */
  lengthMs: number | undefined;
  /** Instead of the start of the window. */
  from?: number | undefined;
  /** Exclusive. */
  until?: number | undefined;
}

/** Days of a chart, or times of a series; a missing one is that of the window. */
export interface Days {
  /** Times at which days begin, or the first and the last time. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Why days have no counts; undefined: they may have. */
export function daysProblem({ from, to }: Days): string | undefined {
  return from !== undefined && to !== undefined && from > to ? "must not be before from" : undefined;
}

/** The span between two times, both included; with `to` alone, a window of `lengthMs` that ends there. Without both: the window. */
export function spanOfTimes({ from, to }: Days, lengthMs: number | undefined): SeriesSpan {
  const end = endOf(to);
  const start = end === undefined || lengthMs === undefined ? undefined : end - lengthMs;
  return { lengthMs, from: from ?? start, until: to === undefined ? undefined : to + 1 };
}

/** When the last included time ends: a day ends when the next one begins. */
export function endOf(to: number | undefined): number | undefined {
  return to !== undefined && (to + 1) % DAY_MS === 0 ? to + 1 : to;
}

/** The same for days. */
export function spanOfDays({ from, to }: Days, lengthMs: number | undefined): SeriesSpan {
  return spanOfTimes({ from, to: to === undefined ? undefined : to + DAY_MS - 1 }, lengthMs);
}

export const mostPoints = ({ from, until }: SeriesSpan): number =>
  from === undefined && until === undefined ? MAX_POINTS : MAX_POINTS_OF_DAYS;

/** The times of the last snapshot at or before a time, and of the first one after it; null without one. */
interface Around {
  before: number | null;
  after: number | null;
}

/** The furthest that two compared snapshots are apart, in windows: daily files two days apart are more than 48 hours apart half the time. */
export const MAX_WINDOWS = 2.25;

/**
 * Which of two snapshots is compared with the newest one, taken at `to`: the one nearer to `to - lengthMs`, the earlier when
 * both are equally near. Only snapshots 0.5 to MAX_WINDOWS windows before `to` qualify; undefined when neither does.
 */
export function chooseFrom(to: number, lengthMs: number, { before, after }: Around): number | undefined {
  const target = to - lengthMs;
  const early = before !== null && to - before <= MAX_WINDOWS * lengthMs ? before : undefined;
  const late = after !== null && to - after >= lengthMs / 2 ? after : undefined;
  if (early === undefined || late === undefined) return early ?? late;
  return target - early <= late - target ? early : late;
}

/** Memory for sorting few values: a rebuild of all growth takes millions of medians. */
const FEW = new Float64Array(32);

/** The values in ascending order; valid until the next call. */
function inOrder(values: ArrayLike<number>): ArrayLike<number> {
  if (values.length > FEW.length) return Float64Array.from(values).sort();
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN;
    let at = i;
    for (; at > 0; at--) {
      const before = FEW[at - 1] ?? 0;
      if (before <= value) break;
      FEW[at] = before;
    }
    FEW[at] = value;
  }
  return FEW;
}

/** The median; NaN for no values. */
export function median(values: ArrayLike<number>): number {
  const sorted = inOrder(values);
  const middle = values.length / 2;
  if (values.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** A step with a length. */
type TimeStep = Exclude<Step, "all">;

const LENGTHS_MS: Readonly<Record<TimeStep, number>> = {
  "1h": HOUR_MS,
  "2h": 2 * HOUR_MS,
  "6h": 6 * HOUR_MS,
  "12h": 12 * HOUR_MS,
  "1d": DAY_MS,
  "1w": WEEK_MS,
  "4w": 4 * WEEK_MS,
};

/** 1970-01-01 was a Thursday; weeks are counted from the Monday before. */
const MONDAY_OFFSET_MS = 3 * DAY_MS;

/** Start of the step of time that contains a time. */
export function startOfStep(at: number, step: TimeStep): number {
  const lengthMs = LENGTHS_MS[step];
  const offsetMs = lengthMs > DAY_MS ? MONDAY_OFFSET_MS : 0;
  return Math.floor((at + offsetMs) / lengthMs) * lengthMs - offsetMs;
}

/** The next longer step; undefined for the longest. */
function longerStep(step: Step): TimeStep | undefined {
  const next = STEPS[STEPS.indexOf(step) + 1];
  return next === "all" ? undefined : next;
}

interface ThinOptions {
  /** Maximum number of readings. */
  most: number;
  /** The finest step. */
  step: Step;
  /** Whether the first reading stays whatever the step. */
  keepsFirst: boolean;
}

/** The indexes that stay by the finest step with at most `most`; of more by the longest step, the newest. */
export function thin(
  readings: Readings,
  { most, step, keepsFirst }: ThinOptions,
): { kept: number[]; resolution: Step } {
  let resolution = step;
  let kept = lastOfEach(readings, { step, keepsFirst });
  for (let next = longerStep(step); kept.length > most && next !== undefined; next = longerStep(next)) {
    resolution = next;
    kept = lastOfEach(readings, { indexes: kept, step: next, keepsFirst });
  }
  if (kept.length <= most) return { kept, resolution };
  const first = keepsFirst ? kept.slice(0, 1) : [];
  return { kept: [...first, ...kept.slice(first.length - most)], resolution };
}

/** The indexes of readings that are the last of their step, or the first of all. `indexes`: those to choose from; default: all. */
function lastOfEach(
  readings: Readings,
  {
    step,
    keepsFirst,
    indexes = Array.from({ length: readings.length }, (_, i) => i),
  }: { step: Step; keepsFirst: boolean; indexes?: number[] },
): number[] {
  if (step === "all") return indexes;
  const starts = indexes.map((index) => startOfStep(readings.at(index), step));
  return indexes.filter((_, i) => (keepsFirst && i === 0) || starts[i] !== starts[i + 1]);
}

/** Readings to thin together with others. */
interface Thinned {
  readings: Readings;
  /** Whether the first reading stays whatever the step. */
  keepsFirst: boolean;
}

interface CommonOptions {
  /** Maximum number of readings of all series together, and of each. */
  most: number;
  mostEach: number;
  /** The finest step. */
  step: Step;
}

/**
 * Thins several series by one step: the finest by which there are few enough readings. Each is thinned as it is added,
 * so that no more than `most` are held.
 */
export class CommonThinning {
  readonly #options: CommonOptions;
  readonly #kept = new Map<number, Thinned>();
  #step: Step;
  #total = 0;

  constructor(options: CommonOptions) {
    this.#options = options;
    this.#step = options.step;
  }

  add(id: number, { readings, keepsFirst }: Thinned): void {
    const kept = this.#thin({ readings, keepsFirst });
    this.#kept.set(id, { readings: kept, keepsFirst });
    this.#total += kept.length;
    const { most, mostEach } = this.#options;
    while (this.#total > most || (this.#kept.get(id)?.readings.length ?? 0) > mostEach) {
      const next = longerStep(this.#step);
      if (next === undefined) return;
      this.#step = next;
      this.#thinAll();
    }
  }

  /**
   * The readings left of each series, and the step. If there are too many even by the longest step, each has the newest of its share, and `isCut`
   * is true if that leaves any out.
   */
  end(): { kept: Map<number, Readings>; resolution: Step; isCut: boolean } {
    const { most, mostEach } = this.#options;
    const share = this.#total > most ? Math.floor(most / this.#kept.size) : mostEach;
    const kept = new Map(
      [...this.#kept].map(([id, { readings, keepsFirst }]) => {
        const newest = readings.length - share + (keepsFirst ? 1 : 0);
        const keeps = (index: number) => (keepsFirst && index === 0) || index >= newest;
        return [id, readings.length <= share ? readings : readings.only(keeps)];
      }),
    );
    const isCut = [...this.#kept.values()].some(({ readings }) => readings.length > share);
    return { kept, resolution: this.#step, isCut };
  }

  /** A copy of those that stay, as the others may be many. */
  #thin({ readings, keepsFirst }: Thinned): Readings {
    const indexes = lastOfEach(readings, { step: this.#step, keepsFirst });
    return readings.picked(indexes);
  }

  #thinAll(): void {
    this.#total = 0;
    for (const thinned of this.#kept.values()) {
      thinned.readings = this.#thin(thinned);
      this.#total += thinned.readings.length;
    }
  }
}
