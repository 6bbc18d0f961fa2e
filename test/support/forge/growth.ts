import { DAY_MS } from "../../../src/lib/clock.js";
import { chance } from "./numbers.js";

/**
 * How one repository grows. All numbers are pure functions of time, so a read costs the same at any moment and in any order.
 * Days are UTC days since 1970.
 */
export interface Growth {
  seed: number;
  index: number;
  /** ms since 1970. */
  createdAt: number;
  /** The first day of the script, and the stars at that time; 0 for a repository created later. */
  startDay: number;
  starsAtStart: number;
  /** Mean number of stars per day from `startDay`; most repositories get none on most days. */
  starsPerDay: number;
}

/** At most one of this many stars is withdrawn: the K-th, the 2K-th and so on, in this order. */
const TAKEN_BACK_EVERY = 4;
const PURPOSE = { day: 1, phase: 2, loss: 3, forks: 4, watchers: 5, issues: 6, pulls: 7, pushes: 8 };

const about = (growth: Growth, purpose: number) => chance(growth.seed, growth.index, purpose);
const onDay = (growth: Growth, purpose: number, day: number) =>
  chance(growth.seed ^ Math.imul(purpose, 0x632be5ab), growth.index, day);

/** Stars given before a day, as a real number; increases faster on some days than on others. */
function givenAtMidnight(growth: Growth, day: number): number {
  const { startDay, starsAtStart, starsPerDay } = growth;
  const createdDay = Math.floor(growth.createdAt / DAY_MS);
  if (day <= createdDay) return 0;
  const phase = about(growth, PURPOSE.phase);
  const shift = 0.95 * onDay(growth, PURPOSE.day, day);
  if (createdDay >= startDay) return phase + starsPerDay * (day - createdDay - 1 + shift);
  if (day === startDay) return starsAtStart + phase;
  if (day > startDay) return starsAtStart + phase + starsPerDay * (day - startDay + shift);
  return (starsAtStart + phase) * ((day + shift - createdDay) / (startDay - createdDay)) ** 1.5;
}

/** Stars given up to a moment, including withdrawn ones. */
function given(growth: Growth, at: number): number {
  const day = Math.floor(at / DAY_MS);
  const from = Math.max(day * DAY_MS, growth.createdAt);
  const part = Math.max(0, at - from) / ((day + 1) * DAY_MS - from);
  const begin = givenAtMidnight(growth, day);
  return Math.floor(begin + (givenAtMidnight(growth, day + 1) - begin) * part);
}

/** Stars withdrawn up to a moment. */
function takenBack(growth: Growth, at: number): number {
  const days = Math.max(0, at / DAY_MS - Math.max(growth.startDay, growth.createdAt / DAY_MS));
  const wanted = about(growth, PURPOSE.loss) + growth.starsPerDay * 0.06 * days;
  return Math.min(Math.floor(wanted), Math.floor(given(growth, at) / TAKEN_BACK_EVERY));
}

/** Stars at a moment, without scripted bursts and purges. */
export function starsAt(growth: Growth, at: number): number {
  return given(growth, at) - takenBack(growth, at);
}

/** Stars given on a day and not withdrawn at `at`. All days add up to `starsAt`. */
export function starsKeptOf(growth: Growth, day: number, at: number): number {
  if (day * DAY_MS > at) return 0;
  const before = given(growth, day * DAY_MS);
  const after = given(growth, Math.min(at, (day + 1) * DAY_MS));
  const lost = takenBack(growth, at);
  const lostOf = (stars: number) => Math.min(lost, Math.floor(stars / TAKEN_BACK_EVERY));
  return after - before - (lostOf(after) - lostOf(before));
}

/** Counters that roughly follow the stars. */
export function countersAt(growth: Growth, at: number) {
  const stars = given(growth, at);
  const size = (growth.starsAtStart + 1) ** 0.55;
  const periodMs = DAY_MS * (0.5 + (40 * about(growth, PURPOSE.issues)) / (0.5 + growth.starsPerDay));
  const period = Math.floor(at / periodMs);
  const wave = (purpose: number) => 0.6 + 0.4 * onDay(growth, purpose, period);
  return {
    forks: Math.floor(stars * (0.05 + 0.25 * about(growth, PURPOSE.forks))),
    watchers: 1 + Math.floor(stars * 0.04 * about(growth, PURPOSE.watchers)),
    openIssues: Math.round(size * (0.2 + about(growth, PURPOSE.issues)) * wave(PURPOSE.issues)),
    openPullRequests: Math.round(0.2 * size * about(growth, PURPOSE.pulls) * wave(PURPOSE.pulls)),
  };
}

/** The last push before a moment: some repositories have one per day, half of them none for weeks. */
export function pushedAt(growth: Growth, at: number): number {
  const part = about(growth, PURPOSE.pushes);
  const periodMs = Math.round(DAY_MS * 10 ** (3 * part));
  const phase = Math.floor(part * periodMs);
  const last = Math.floor((at - phase) / periodMs) * periodMs + phase;
  return Math.max(growth.createdAt, Math.floor(last / 1000) * 1000);
}
