/** Finds jumps in a series of stars, and says what became of them. */

import { DAY_MS } from "../../src/lib/clock.js";
import { median } from "../../src/repositories/series.js";
import type { Readings } from "../../src/repositories/snapshots/readings.js";

/** A jump is a step by at least this many stars, at least this many times the usual day. */
export const MIN_JUMP = 80;
export const JUMP_FACTOR = 5;
/** The usual day is the median of the steps in this time before the jump, if there are this many. */
const USUAL_MS = 60 * DAY_MS;
const MIN_STEPS = 3;
/** A step over more than this many times the distance of the files is a gap in the source. */
const GAP_FACTOR = 2.5;
/** A jump went bad if this part of it was gone within this time. */
const GONE_PART = 1 / 3;
const GONE_MS = 14 * DAY_MS;
/** The repository has been there before if an earlier reading lacks at most this part of the jump. */
const MISSING_PART = 0.2;
/** From this multiple on, in stars and in forks, a step is taken as another repository under the same name. */
const OTHER_FACTOR = 3;

/**
 * What a jump is. `return`: the repository had as many stars before, so the source or the forge had shown too few.
 * `reused-name`: stars and forks both multiplied. `gap`: the source has no files in between. `bad`: a third was gone
 * within 14 days. `good`: everything else.
 */
export const JUMP_CLASSES = ["good", "bad", "return", "reused-name", "gap"] as const;
export type JumpClass = (typeof JUMP_CLASSES)[number];

export interface Jump {
  /** Index of the reading that shows it. */
  index: number;
  at: number;
  days: number;
  gained: number;
  /** Median gain a day before. */
  usual: number;
  /** null: unknown. */
  forks: number | null;
  openIssues: number | null;
  /**
   * Forks gained for each star gained, from before the jump until 14 days after it, as a multiple of the forks for each star
   * before. null: unknown.
   */
  breadthAfter: number | null;
  class: JumpClass;
  /** The lowest stars in the 14 days after it; its own where nothing follows. */
  lowest: number;
}

/** The median gain a day over the steps that end before a reading; undefined for too few steps. */
export function usualDay(readings: Readings, index: number): number | undefined {
  const first = readings.countBefore(readings.at(index) - USUAL_MS);
  const rates: number[] = [];
  for (let i = first + 1; i < index; i++) {
    rates.push((readings.stars(i) - readings.stars(i - 1)) / daysOf(readings, i));
  }
  return rates.length < MIN_STEPS ? undefined : median(rates);
}

function daysOf(readings: Readings, index: number): number {
  return (readings.at(index) - readings.at(index - 1)) / DAY_MS;
}

/** Whether a step is a jump against the usual day. */
export function isJump(gained: number, days: number, usual: number): boolean {
  return gained >= MIN_JUMP && gained / days >= JUMP_FACTOR * Math.max(0, usual);
}

/** All jumps of a series. `spacing`: days from one file to the next. */
export function findJumps(readings: Readings, spacing: number): Jump[] {
  const jumps: Jump[] = [];
  for (let index = MIN_STEPS + 1; index < readings.length; index++) {
    const gained = readings.stars(index) - readings.stars(index - 1);
    if (gained < MIN_JUMP) continue;
    const days = daysOf(readings, index);
    const usual = usualDay(readings, index);
    if (usual === undefined || !isJump(gained, days, usual)) continue;
    const lowest = lowestAfter(readings, index);
    jumps.push({
      index,
      at: readings.at(index),
      days,
      gained,
      usual,
      forks: change(readings, index, 2),
      openIssues: change(readings, index, 3),
      breadthAfter: breadthAfter(readings, index),
      class: days > GAP_FACTOR * spacing ? "gap" : classOf(readings, index, lowest),
      lowest,
    });
  }
  return jumps;
}

function change(readings: Readings, index: number, column: number): number | null {
  const [before, after] = [readings.count(index - 1, column), readings.count(index, column)];
  return before === null || after === null ? null : after - before;
}

function breadthAfter(readings: Readings, index: number): number | null {
  const last = endOf(readings, index) - 1;
  const [before, after] = [readings.count(index - 1, 2), readings.count(last, 2)];
  const [from, to] = [readings.stars(index - 1), readings.stars(last)];
  return before === null || after === null || before === 0 || to <= from
    ? null
    : (after - before) / (to - from) / (before / from);
}

/** The index after the last reading of the 14 days after one. */
function endOf(readings: Readings, index: number): number {
  return readings.countBefore(readings.at(index) + GONE_MS + DAY_MS / 2);
}

function lowestAfter(readings: Readings, index: number): number {
  const end = endOf(readings, index);
  let lowest = readings.stars(index);
  for (let i = index + 1; i < end; i++) lowest = Math.min(lowest, readings.stars(i));
  return lowest;
}

function classOf(readings: Readings, index: number, lowest: number): JumpClass {
  const [from, to] = [readings.stars(index - 1), readings.stars(index)];
  const known = to - MISSING_PART * (to - from);
  for (let i = 0; i < index; i++) if (readings.stars(i) >= known) return "return";
  const [forksFrom, forksTo] = [readings.count(index - 1, 2), readings.count(index, 2)];
  if (
    to >= OTHER_FACTOR * from &&
    forksFrom !== null &&
    forksTo !== null &&
    forksTo >= OTHER_FACTOR * Math.max(10, forksFrom)
  )
    return "reused-name";
  return to - lowest >= GONE_PART * (to - from) ? "bad" : "good";
}
