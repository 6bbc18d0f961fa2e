import { DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import type { Readings } from "./snapshots/snapshots.js";

/**
 * Which snapshots of a series are points: all, or the last one of each step of time (UTC; weeks from Monday). Each step is a
 * multiple of the one before it, so thinning twice is the same as thinning by the longer step.
 */
export const STEPS = ["all", "1h", "2h", "6h", "12h", "1d", "1w", "4w"] as const;
export type Step = (typeof STEPS)[number];

/** A step with a length. */
export type TimeStep = Exclude<Step, "all">;

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

/**
 * The indexes of the readings that stay by the finest step of which there are at most `most`; of more by the longest step,
 * the newest.
 */
export function thin(
  readings: Readings,
  { most, step, keepsFirst }: ThinOptions,
): { kept: number[]; resolution: Step } {
  let resolution = step;
  let kept = lastOfEach(readings, { indexes: allIndexes(readings), step, keepsFirst });
  for (let next = longerStep(step); kept.length > most && next !== undefined; next = longerStep(next)) {
    resolution = next;
    kept = lastOfEach(readings, { indexes: kept, step: next, keepsFirst });
  }
  if (kept.length <= most) return { kept, resolution };
  const first = keepsFirst ? kept.slice(0, 1) : [];
  return { kept: [...first, ...kept.slice(first.length - most)], resolution };
}

/** Readings to thin together with others. */
interface Thinned {
  readings: Readings;
  /** Whether the first reading stays whatever the step. */
  keepsFirst: boolean;
}

interface CommonOptions {
  /** Maximum number of readings of all, and of each. */
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
   * What is left of each, and the step. If there are too many even by the longest step, each has the newest of its share, and `isCut`
   * is true where that leaves any out.
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
    const indexes = lastOfEach(readings, { indexes: allIndexes(readings), step: this.#step, keepsFirst });
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

function allIndexes({ length }: Readings): number[] {
  return Array.from({ length }, (_, i) => i);
}

/** Those of the indexes that are the last of their step, or the first of all. */
function lastOfEach(
  readings: Readings,
  { indexes, step, keepsFirst }: { indexes: number[]; step: Step; keepsFirst: boolean },
): number[] {
  if (step === "all") return indexes;
  const starts = indexes.map((index) => startOfStep(readings.at(index), step));
  return indexes.filter((_, i) => (keepsFirst && i === 0) || starts[i] !== starts[i + 1]);
}
