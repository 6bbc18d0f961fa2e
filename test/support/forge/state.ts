import { DAY_MS } from "../../../src/lib/clock.js";
import { type Facts, factsOf } from "./facts.js";
import { chance } from "./numbers.js";
import type { ScriptEvent } from "./script.js";

/** `members`: shown to those who are signed in; `private`: hidden by its owner; `blocked`: for legal reasons. */
export type Visibility = "public" | "members" | "private" | "blocked" | "deleted";

/** A repository at one moment. Times in ms since 1970. */
export interface ForgeRepository extends Facts {
  id: number;
  owner: string;
  name: string;
  fullName: string;
  visibility: Visibility;
  stars: number;
  forks: number;
  watchers: number;
  openIssues: number;
  openPullRequests: number;
  isArchived: boolean;
  createdAt: number;
  pushedAt: number;
  updatedAt: number;
}

/** A repository's origin and events, from which its state at any time follows. */
export interface Entry {
  id: number;
  /** The initial name. */
  fullName: string;
  growth: Growth;
  isFork: boolean;
  /** In order of time. */
  events: ScriptEvent[];
}

/** The complete record at a moment. */
export function recordAt(entry: Entry, at: number): ForgeRepository {
  const { id, growth, events } = entry;
  const fullName = nameAt(entry, at);
  const slash = fullName.lastIndexOf("/");
  const past = events.filter((event) => event.at <= at);
  const archived = past.findLast(({ kind }) => kind === "archived")?.at;
  const pushed = pushedAt(growth, Math.min(at, archived ?? at));
  return {
    ...factsOf(growth.seed, growth.index),
    ...countersAt(growth, at),
    id,
    owner: fullName.slice(0, slash),
    name: fullName.slice(slash + 1),
    fullName,
    visibility: visibilityAt(entry, at),
    stars: starsWith(entry, at),
    isArchived: archived !== undefined,
    createdAt: growth.createdAt,
    pushedAt: pushed,
    updatedAt: Math.max(pushed, Math.floor((past.at(-1)?.at ?? 0) / 1000) * 1000),
  };
}

/** The full name at a moment. */
export function nameAt(entry: Entry, at: number): string {
  const move = entry.events.findLast((event) => event.at <= at && event.from !== null);
  return typeof move?.to === "string" ? move.to : entry.fullName;
}

/** Stars at a moment, including bursts and purges. */
export function starsWith(entry: Entry, at: number): number {
  let stars = starsAt(entry.growth, at);
  for (const { at: when, kind, to } of entry.events) {
    if (when <= at && typeof to === "number") stars += kind === "burst" ? to : -to;
  }
  return Math.max(0, stars);
}

/** The visibility at a moment. */
export function visibilityAt(entry: Entry, at: number): Visibility {
  let visibility: Visibility = "public";
  for (const { at: when, kind } of entry.events) {
    if (when > at) break;
    if (kind === "hidden") visibility = "private";
    else if (kind === "blocked") visibility = "blocked";
    else if (kind === "deleted") visibility = "deleted";
    else if (kind === "shown" || kind === "restored") visibility = "public";
  }
  return visibility;
}

/** Stars given on a day and not withdrawn at `at`: a purge removes the stars of the burst before it. */
export function starsKeptWith(entry: Entry, day: number, at: number): number {
  let kept = starsKeptOf(entry.growth, day, at);
  let burstDay = -1;
  for (const event of entry.events) {
    if (event.at > at || typeof event.to !== "number") continue;
    if (event.kind === "burst") burstDay = Math.floor(event.at / DAY_MS);
    if (burstDay === day) kept += event.kind === "burst" ? event.to : -event.to;
  }
  return Math.max(0, kept);
}

/**
 * How one repository grows. All numbers are pure functions of time, so a read costs the same at any moment and in any order.
 * Days are UTC days since 1970.
 */
interface Growth {
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
function starsAt(growth: Growth, at: number): number {
  return given(growth, at) - takenBack(growth, at);
}

/** Stars given on a day and not withdrawn at `at`. All days add up to `starsAt`. */
function starsKeptOf(growth: Growth, day: number, at: number): number {
  if (day * DAY_MS > at) return 0;
  const before = given(growth, day * DAY_MS);
  const after = given(growth, Math.min(at, (day + 1) * DAY_MS));
  const lost = takenBack(growth, at);
  const lostOf = (stars: number) => Math.min(lost, Math.floor(stars / TAKEN_BACK_EVERY));
  return after - before - (lostOf(after) - lostOf(before));
}

/** Counters that roughly follow the stars. */
function countersAt(growth: Growth, at: number) {
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
function pushedAt(growth: Growth, at: number): number {
  const part = about(growth, PURPOSE.pushes);
  const periodMs = Math.round(DAY_MS * 10 ** (3 * part));
  const phase = Math.floor(part * periodMs);
  const last = Math.floor((at - phase) / periodMs) * periodMs + phase;
  return Math.max(growth.createdAt, Math.floor(last / 1000) * 1000);
}
