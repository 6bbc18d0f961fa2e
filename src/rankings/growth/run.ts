import { DAY_MS } from "../../clock.js";
import type { Reading, Step } from "./anomalies.js";
import { type Breadth, breadthOf, type UsualPaces, usualPaces } from "./breadth.js";
import { FEW_STEPS } from "./usual.js";

/** A step is unusual from this multiple of the usual day, and this many stars a day more. */
const UNUSUAL_FACTOR = 4;
export const UNUSUAL_MORE = 10;
/** Stars a day added to the usual ones before they are compared with a gain. */
const USUAL_PRIOR = 3;
/** Forks may follow this long after a run. */
const FOLLOW_DAYS = 14;
/** A level shift is one step to at least this multiple, and by at least this many: perhaps another repository. */
const SHIFT_FACTOR = 5;
const MIN_SHIFT = 1_000;
const SHIFT_LEVEL = 100;

/** The breadth of a run as seen at a reading. */
interface Seen {
  reading: Reading;
  chance: number;
  supported: number;
}

/** The stars of a day from which a gain is unusual. */
export function unusualFrom(usual: number): number {
  return UNUSUAL_FACTOR * usual + UNUSUAL_MORE;
}

/** Unusual steps that follow each other, compared with the days before the first of them. */
export class Run {
  readonly before: Reading;
  /** Stars on a usual day. */
  readonly usual: number;
  readonly paces: UsualPaces;
  /** Whether enough days came before to know the usual one. */
  readonly isKnown: boolean;
  /** Indexes of its unusual steps. */
  readonly indexes: number[] = [];
  /** Stars of these steps, those beyond the usual, and their days. */
  gained = 0;
  excess = 0;
  days = 0;
  /** The highest chance of those below which it was found to be a burst; null: it is none. */
  raisedBelow: number | null = null;
  /** Whether it became one by its abrupt end. */
  endedAbruptly = false;
  readonly #steps: readonly Step[];
  /** The run just before it, if its breadth has shown that it is real: both may be one leap. */
  readonly #leap: Run | undefined;

  constructor(
    steps: readonly Step[],
    before: Reading,
    { usual, trusted, leap }: { usual: number; trusted: readonly Step[]; leap: Run | undefined },
  ) {
    this.#steps = steps;
    this.#leap = leap;
    this.before = before;
    this.usual = usual;
    this.paces = usualPaces(before, trusted);
    this.isKnown = trusted.length >= FEW_STEPS;
  }

  add(index: number, { gained, days }: Step): void {
    this.indexes.push(index);
    this.gained += gained;
    this.excess += gained - this.usual * days;
    this.days += days;
  }

  /** Marks it as a burst. `below`: the chance that would have been enough for a real leap. */
  raise(below: number): void {
    this.raisedBelow = Math.max(this.raisedBelow ?? 0, below);
  }

  get isBurst(): boolean {
    return this.raisedBelow !== null;
  }

  get steps(): Step[] {
    return this.indexes.flatMap((index) => this.#steps[index] ?? []);
  }

  /** The last reading of the run. */
  get end(): Reading {
    return this.#steps[this.indexes.at(-1) ?? -1]?.to ?? this.before;
  }

  /** The gain of a day of the run beyond the usual, as a multiple of the usual day. */
  get multiple(): number {
    return this.excess / this.days / (this.usual + USUAL_PRIOR);
  }

  /** Whether the run is a single step to a multiple of the stars. */
  get isShift(): boolean {
    const { before, end, gained } = this;
    const isLarge = before.stars >= SHIFT_LEVEL && gained >= MIN_SHIFT;
    return this.indexes.length === 1 && isLarge && end.stars >= SHIFT_FACTOR * before.stars;
  }

  /** The breadth as seen at a reading at or after the end. */
  breadthAt(after: Reading): Breadth {
    const { before, excess, end } = this;
    const days = (end.at - before.at) / DAY_MS;
    const daysAfter = (after.at - end.at) / DAY_MS;
    return breadthOf({ before, after, days, daysAfter, excess, steps: this.indexes.length }, this.paces);
  }

  /** The chance as `breadthAt`, of this run and the real one just before it together; null without one. */
  chanceAsOneLeap(after: Reading): number | null {
    const { end } = this;
    const leap = this.#leap;
    if (leap === undefined) return null;
    const excess = leap.excess + this.excess;
    const { before, paces } = leap;
    const days = (end.at - before.at) / DAY_MS;
    const daysAfter = (after.at - end.at) / DAY_MS;
    // Where the two differ that much, their days have not evened out.
    return breadthOf({ before, after, days, daysAfter, excess, steps: 1 }, paces).chance;
  }

  /** The readings that may show what followed: from the end on, for two weeks. */
  get following(): Reading[] {
    const { at } = this.end;
    const last = this.indexes.at(-1) ?? -1;
    return this.#steps.slice(last).flatMap(({ to }) => (to.at - at <= FOLLOW_DAYS * DAY_MS ? [to] : []));
  }

  /** Those of `following` that have forks or watchers, with the breadth seen there: one without does not undo what others showed. */
  get seen(): Seen[] {
    return this.following.flatMap((reading) => {
      const { chance, supported } = this.breadthAt(reading);
      return chance === null || supported === null ? [] : [{ reading, chance, supported }];
    });
  }

  /** All readings after the end. */
  get later(): Reading[] {
    return this.#steps.slice((this.indexes.at(-1) ?? -1) + 1).map(({ to }) => to);
  }
}
