/** Which repositories meet the filters of a list. */
import { type Filters, foldedLicense, type ListSpec } from "../lists/spec.js";
import { type NamedColumn, type PlainColumn, plainNumber } from "./columns.js";
import type { ReadModel } from "./read-model.js";
import type { SlotSet } from "./slot-set.js";

/** What the values of a filter, or of several that belong together, are counted as. */
export type Dimension = NamedColumn | "topic" | "stars" | "created" | "pushed";

interface Matching extends Pick<ListSpec, "filters" | "window"> {
  /** Absent: all listed ones. */
  among?: SlotSet | undefined;
  /** A dimension whose filters are left out. */
  except?: Dimension | undefined;
}

/** The listed repositories that meet the filters. */
export function matchesOf(model: ReadModel, { filters, window, among, except }: Matching): SlotSet {
  const { columns, topics } = model;
  const { archived, fork, reliableOnly, excludeAnomalous } = filters;
  const set = model.emptySet().copy(columns.listed);
  if (among !== undefined) set.and(among);
  for (const [wanted, flag] of [
    [archived, columns.archived],
    [fork, columns.fork],
  ] as const) {
    if (wanted === true) set.and(flag);
    if (wanted === false) set.andNot(flag);
  }
  if (reliableOnly) set.and(columns.trust[window].reliable);
  if (excludeAnomalous) set.and(columns.trust[window].clean);
  // Those that usually leave fewest come first, as each costs time for all that are left.
  if (filters.topics !== undefined && except !== "topic") {
    const tagged = model.emptySet();
    for (const topic of filters.topics) topics.addTo(tagged, topic);
    set.and(tagged);
  }
  for (const { column, isWanted } of namesOf(filters))
    if (column !== except) set.keepCodes(columns.named[column], columns.names[column].table(isWanted));
  for (const { column, first, last } of rangesOf(filters))
    if (column !== except) set.keepRange(columns.plain[column], first, last);
  return set;
}

interface NameTest {
  column: NamedColumn;
  isWanted: (name: string) => boolean;
}

function namesOf({ languages, license, provider }: Filters): NameTest[] {
  const tests: NameTest[] = [];
  if (languages !== undefined)
    tests.push({ column: "language", isWanted: (name) => languages.includes(name.toLowerCase()) });
  if (license !== undefined) {
    const wanted = foldedLicense(license);
    tests.push({ column: "license", isWanted: (name) => foldedLicense(name) === wanted });
  }
  if (provider !== undefined) tests.push({ column: "provider", isWanted: (name) => name === provider });
  return tests;
}

/** Numbers of a column, both included. Unknown is 0, and in no range. */
interface Range {
  column: PlainColumn & Dimension;
  first: number;
  last: number;
}

function rangesOf({ minStars, maxStars, createdAfter, createdBefore, pushedAfter }: Filters): Range[] {
  const ranges: Range[] = [];
  const add = (column: Range["column"], from = 0, to = Number.POSITIVE_INFINITY) =>
    ranges.push({ column, first: plainNumber(from), last: to < 0 ? 0 : plainNumber(to) });
  if (minStars !== undefined || maxStars !== undefined) add("stars", minStars, maxStars);
  if (createdAfter !== undefined || createdBefore !== undefined)
    add(
      "created",
      secondsFrom(createdAfter),
      createdBefore === undefined ? undefined : secondsFrom(createdBefore) - 1,
    );
  if (pushedAfter !== undefined) add("pushed", secondsFrom(pushedAfter));
  return ranges;
}

/** The first whole second at or after a time. */
export function secondsFrom(ms: number): number;
export function secondsFrom(ms: number | undefined): number | undefined;
export function secondsFrom(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.ceil(ms / 1_000);
}
