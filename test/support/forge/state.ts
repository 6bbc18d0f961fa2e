import { DAY_MS } from "../../../src/lib/clock.js";
import { type Facts, factsOf } from "./facts.js";
import { countersAt, type Growth, pushedAt, starsAt, starsKeptOf } from "./growth.js";
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
