import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import type { Readings } from "./snapshots/snapshots.js";

/**
 * Which snapshots of a series are points: all, or the last one of each step of time (UTC; weeks from Monday). Each step is a
 * multiple of the one before it, so thinning twice is the same as thinning by the longer step.
 */
export const STEPS = ["all", "1h", "2h", "6h", "12h", "1d", "1w", "4w"] as const;
export type Step = (typeof STEPS)[number];

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
export function longerStep(step: Step): TimeStep | undefined {
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

/**
 * The indexes of readings that are the last of their step, or the first of all, and of the two between which the star history ends and totals
 * begin, as gains end and begin there. `indexes`: those to choose from; default: all.
 */
export function lastOfEach(
  readings: Readings,
  {
    step,
    keepsFirst,
    indexes = Array.from({ length: readings.length }, (_, i) => i),
  }: { step: Step; keepsFirst: boolean; indexes?: number[] },
): number[] {
  if (step === "all") return indexes;
  const starts = indexes.map((index) => startOfStep(readings.at(index), step));
  const firstTotal = indexes.findIndex((index) => !readings.isRetained(index));
  const isAtSeam = (i: number) => firstTotal > 0 && (i === firstTotal || i === firstTotal - 1);
  return indexes.filter((_, i) => (keepsFirst && i === 0) || isAtSeam(i) || starts[i] !== starts[i + 1]);
}
