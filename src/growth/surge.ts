/** A surge of unusual gains: how it compares with the days before, the readings after it, and its anomaly if it is a burst. */
import { DAY_MS } from "../lib/clock.js";
import { type Anomaly, countText, type Reading, type Step } from "./anomalies.js";
import { type Breadth, breadthOf, type UsualPaces, usualPaces } from "./breadth.js";
import { FEW_STEPS } from "./usual.js";

/** A step is unusual from this multiple of the usual day, and this many stars a day more. */
const UNUSUAL_FACTOR = 4;
export const UNUSUAL_MORE = 10;
/** Stars a day added to the usual ones before they are compared with a gain. */
const USUAL_PRIOR = 3;
/** Forks may follow this long after a surge. */
const FOLLOW_DAYS = 14;
/** A level shift is one step to at least this multiple, and by at least this many: perhaps another repository. */
const SHIFT_FACTOR = 5;
const MIN_SHIFT = 1_000;
const SHIFT_LEVEL = 100;

/** The breadth of a surge as seen at a reading. */
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
export class Surge {
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
  /** The surge just before it, if its breadth has shown that it is real: both may be one leap. */
  readonly #leap: Surge | undefined;

  constructor(
    steps: readonly Step[],
    before: Reading,
    { usual, trusted, leap }: { usual: number; trusted: readonly Step[]; leap: Surge | undefined },
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

  /** The last reading of the surge. */
  get end(): Reading {
    return this.#steps[this.indexes.at(-1) ?? -1]?.to ?? this.before;
  }

  /** The gain of a day of the surge beyond the usual, as a multiple of the usual day. */
  get multiple(): number {
    return this.excess / this.days / (this.usual + USUAL_PRIOR);
  }

  /** Whether the surge is a single step to a multiple of the stars. */
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

  /** The chance as `breadthAt`, of this surge and the real one just before it together; null without one. */
  chanceAsOneLeap(after: Reading): number | null {
    const { end } = this;
    const leap = this.#leap;
    if (leap === undefined) return null;
    const excess = leap.excess + this.excess;
    const { before, paces } = leap;
    const days = (end.at - before.at) / DAY_MS;
    const daysAfter = (after.at - end.at) / DAY_MS;
    // If the two differ that much, their days have not evened out.
    return breadthOf({ before, after, days, daysAfter, excess, steps: 1 }, paces).chance;
  }

  /** The readings after it: from its end on, for two weeks. */
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

/**
 * Later readings clear a burst if its chance reaches this multiple of the one below which it was raised, up to a chance that
 * supports a surge.
 */
const CLEARED = { factor: 3, most: 0.3, abrupt: 0.5, readings: 2 };
/** A burst that has kept nine tenths of its stars for this long is history, whatever it was. */
const CLEARED_DAYS = 30;
const KEPT_PART = 0.9;
/** If no forks are known, this multiple of the usual day is plausible: a quarter of the real jumps exceed it. */
const PLAUSIBLE_MULTIPLE = 15;

/** A burst as seen after the last reading: the anomaly, and the stars in doubt. */
export function describeBurst(surge: Surge): { anomaly: Anomaly; doubted: number } {
  const cleared = clearedOf(surge);
  const doubted =
    cleared?.by === "TIME"
      ? 0
      : surge.isShift
        ? surge.excess
        : surge.excess - supportedOf(surge, cleared !== undefined);
  const counted = Math.max(0, Math.round(surge.gained - doubted));
  const anomaly: Anomaly = {
    kind: surge.isShift ? "LEVEL_SHIFT" : "BURST",
    measure: "stars",
    at: surge.steps[0]?.to.at ?? surge.end.at,
    until: surge.end.at,
    reason: reasonOf(surge, counted),
    before: surge.before.stars,
    after: surge.end.stars,
    counted,
    ...(cleared === undefined ? {} : { cleared }),
  };
  return { anomaly, doubted };
}

/**
 * The stars beyond the usual that seem plausible. With forks known, those that they support, but none before the burst is cleared:
 * campaigns bring a few forks too. Without, as many as real gains often have.
 */
function supportedOf(surge: Surge, isCleared: boolean): number {
  const supported = surge.seen.at(-1)?.supported;
  if (supported === undefined)
    return Math.min(surge.excess, (surge.excess * PLAUSIBLE_MULTIPLE) / surge.multiple);
  return isCleared ? supported : 0;
}

function clearedOf(surge: Surge): Anomaly["cleared"] {
  const enough = surge.endedAbruptly
    ? CLEARED.abrupt
    : Math.min(CLEARED.most, CLEARED.factor * (surge.raisedBelow ?? 0));
  // Forks of one moment are quickly made, and another repository has forks of its own.
  const seen = surge.isShift ? [] : surge.seen;
  const since = seen.slice(seen.findLastIndex(({ chance }) => chance < enough) + 1);
  if (since[0] !== undefined && since.length >= CLEARED.readings)
    return { at: since[0].reading.at, by: "BREADTH" };
  const { later, end, before, excess } = surge;
  const at = end.at + CLEARED_DAYS * DAY_MS;
  if ((later.at(-1)?.at ?? 0) < at) return undefined;
  const least = Math.min(...later.map(({ stars }) => stars));
  return least >= before.stars + KEPT_PART * excess ? { at, by: "TIME" } : undefined;
}

/** "6,584 stars in 4 days against about 5 a day, with 27 forks where its own history makes about 400 likely; 600 of them count" */
function reasonOf({ before, end, usual, gained, paces }: Surge, counted: number): string {
  const days = Math.max(1, Math.round((end.at - before.at) / DAY_MS));
  const time = days === 1 ? "a day" : `${days} days`;
  const what = `${countText(gained)} stars in ${time} against about ${countText(Math.round(usual))} a day`;
  const { forks } = paces;
  if (forks === null || before.forks === null || end.forks === null)
    return `${what}; ${countText(counted)} of them count`;
  const followed = Math.max(0, end.forks - before.forks);
  const likely = Math.round(forks.aDay * days + forks.ratio * gained);
  return `${what}, with ${countText(followed)} forks where its own history makes about ${countText(likely)} likely; ${countText(counted)} of them count`;
}
