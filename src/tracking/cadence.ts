/** Cadence: how soon each kind of work is repeated, and how soon failures are retried. Pure, but for the Stretch of a provider. */

import { type Gain, WINDOWS, windowMs } from "../growth/growth.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";

interface Heat {
  stars: number;
  /** Recent growth: the highest known rate. null: unknown. */
  starsPerDay: number | null;
  /** Days since the last push; null if unknown. */
  idleDays: number | null;
  /** Length of the shortest window in which it is known to have gained stars or forks, in ms; null: none. */
  gainedWithinMs: number | null;
}

/** A new reading of a repository, and its counts and growth before. Times in ms since 1970. */
interface Reading {
  before: { stars: number | null; countedAt: number | null };
  stars: number;
  pushedAt: number | null;
  gains: readonly Gain[];
  at: number;
}

/** Growth in longer windows is not recent. */
const RECENT_HOURS = WEEK_MS / HOUR_MS;
const WINDOW_LENGTHS = WINDOWS.map(windowMs);

export function heatOf({ gains: all, ...rest }: Reading): Heat {
  const reading = { ...rest, gains: all.filter(({ windowHours }) => windowHours <= RECENT_HOURS) };
  const { stars, pushedAt, at } = reading;
  return {
    stars,
    starsPerDay: starsPerDay(reading),
    idleDays: pushedAt === null ? null : (at - pushedAt) / DAY_MS,
    gainedWithinMs: gainedWithin(reading),
  };
}

function starsPerDay({ before, stars, gains, at }: Reading): number | null {
  const rates = gains.map(({ starsDelta, from, to }) => (Math.max(0, starsDelta) * DAY_MS) / (to - from));
  if (before.stars !== null && before.countedAt !== null && at - before.countedAt >= HOUR_MS / 2) {
    rates.push((Math.max(0, stars - before.stars) * DAY_MS) / (at - before.countedAt));
  }
  return rates.length === 0 ? null : Math.max(...rates);
}

function gainedWithin({ before, stars, gains, at }: Reading): number | null {
  const gained = gains
    .filter(({ starsDelta, forksDelta }) => starsDelta > 0 || (forksDelta ?? 0) > 0)
    .map(({ windowHours }) => windowHours * HOUR_MS);
  // Its growth since the last refresh is not in the windows yet; a window compares snapshots at most twice its length apart.
  if (before.stars !== null && before.countedAt !== null && stars > before.stars) {
    const passedMs = at - before.countedAt;
    const compared = WINDOW_LENGTHS.filter((lengthMs) => passedMs <= 2 * lengthMs);
    gained.push(...compared.slice(0, 1));
  }
  return gained.length === 0 ? null : Math.min(...gained);
}

const SOONEST_MS = HOUR_MS;
export const LATEST_MS = WEEK_MS;

/**
 * Growth counts in a window while its last reading is no older than half of it. A repository that gained in a window is refreshed
 * after this part of it, which leaves time for spreading and for being an hour late.
 */
const LISTED_PART = 0.4;
/** When the quota is too small, this rule is relaxed before the others. */
const LISTED_STRETCH = 4;

/**
 * Interval until the next refresh with the given stretch (see nextStretch), in ms: at most a week. Short enough for a repository
 * to stay in the lists of the windows in which it gains, if the quota allows that.
 */
export function scheduledInterval(heat: Heat, stretch: number): number {
  const listed = (heat.gainedWithinMs ?? Number.POSITIVE_INFINITY) * LISTED_PART * stretch ** LISTED_STRETCH;
  return Math.round(Math.min(LATEST_MS, intervalOf(heat) * stretch, Math.max(SOONEST_MS, listed)));
}

/**
 * Interval that the growth of a repository needs, in ms: from an hour to a week. It is about the time a repository
 * needs to gain a tenth of the square root of its stars, and at least two. Repositories with unknown growth are refreshed daily,
 * those with a push in the last week at least every three days.
 */
export function intervalOf({ stars, starsPerDay, idleDays }: Omit<Heat, "gainedWithinMs">): number {
  if (starsPerDay === null) return DAY_MS;
  const worthwhile = Math.max(2, Math.sqrt(Math.max(0, stars)) / 10);
  const wait = starsPerDay > 0 ? (worthwhile / starsPerDay) * DAY_MS : LATEST_MS;
  const longest = idleDays !== null && idleDays < 7 ? 3 * DAY_MS : LATEST_MS;
  return Math.round(Math.min(longest, Math.max(SOONEST_MS, wait)));
}

/** Time between two readings of a repository's own record while lists keep its counts fresh, less the spread. */
const DETAILS_MS = 0.9 * WEEK_MS;
export const LATEST_DETAILS_MS = 4 * WEEK_MS;

/** Interval of readings of the own record with the given stretch, in ms: a week, and at most four. */
export function detailsInterval(stretch: number): number {
  return Math.round(Math.min(LATEST_DETAILS_MS, DETAILS_MS * stretch));
}

/** When within an interval a repository is due: in its last fifth, so that the interval is the longest time between readings. */
export function beforeEnd(intervalMs: number, chance: number): number {
  return spread(0.9 * intervalMs, chance);
}

/** Shortest and longest time between the starts of two walks; with the spread and the checks, counts are younger than a day. */
const SOONEST_WALK_MS = 4 * HOUR_MS;
export const LATEST_WALK_MS = 20 * HOUR_MS;
/** Pages that walks may request from a forge in a day, unless a single walk has more. */
const PAGES_PER_DAY = 5_000;

/** Pages after which a walk ends, however long the list is: ten million repositories with fifty on each page. */
export const MAX_WALK_PAGES = 200_000;

/** Time between the starts of two walks, in ms: four hours if a walk has few pages, and almost a day if it has many. */
export function walkInterval(pages: number): number {
  const affordable = (pages / PAGES_PER_DAY) * DAY_MS;
  return Math.round(Math.min(LATEST_WALK_MS, Math.max(SOONEST_WALK_MS, affordable)));
}

/** How long after its n-th consecutive failure a repository is retried. */
export function retryAfter(failures: number): number {
  return Math.min(LATEST_MS, HOUR_MS * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** Pause of a lane after its n-th failed call in a row: 0.5 to 13 min, so that it is there when a token is tried again. */
export function restAfter(failures: number, chance: number): number {
  return spread(Math.min(13 * 60_000, 30_000 * 2 ** Math.min(20, Math.max(0, failures - 1))), chance);
}

/** Varies a time by up to a tenth, so that work that started together spreads out. `chance`: from 0 to 1. */
export function spread(ms: number, chance: number): number {
  return Math.round(ms * (0.9 + 0.2 * chance));
}

/** Maximum stretch: from an hour to two days. */
const MAX_STRETCH = 48;
const LATE_MS = HOUR_MS;
const EARLY_MS = 10 * 60_000;
/** Doubles in about two and a half hours, so a backlog that clears within minutes changes almost nothing. */
const GROWTH_PER_HOUR = 1.32;

/**
 * The factor that lengthens all intervals when a forge's quota is too small for them. It follows the lateness of the
 * repository that is due longest: it grows while that is over an hour, and shrinks again afterwards. So popular
 * repositories stay ahead of quiet ones, and none starves.
 */
export function nextStretch(stretch: number, latenessMs: number, passedMs: number): number {
  const factor = GROWTH_PER_HOUR ** (Math.min(HOUR_MS, Math.max(0, passedMs)) / HOUR_MS);
  if (latenessMs > LATE_MS) return Math.min(MAX_STRETCH, stretch * factor);
  if (latenessMs < EARLY_MS) return Math.max(1, stretch / factor);
  return stretch;
}

/** The stretch of one provider, shared by its lanes. See nextStretch. */
export class Stretch {
  #factor = 1;

  get factor(): number {
    return this.#factor;
  }

  /** Adapts it to the lateness of the repository that is due longest, `passedMs` after the last time. */
  note(latenessMs: number, passedMs: number): void {
    this.#factor = nextStretch(this.#factor, latenessMs, passedMs);
  }
}
