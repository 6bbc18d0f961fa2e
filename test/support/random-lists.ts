import type { Filters } from "../../src/discovery/filters.js";
import type { ListSpec } from "../../src/discovery/query.js";
import { SORTS, type Sort } from "../../src/discovery/query.js";
import { WINDOWS } from "../../src/growth/definitions.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Facts, Observation } from "../../src/repositories/repository.js";
import { fc } from "./properties.js";
import { NOW } from "./world.js";

/** More than 64, so that a topic of all repositories is in the index. */
export const REPOSITORIES = 90;

const LANGUAGES = ["Rust", "RUST", "rust", "C++", null];
const LICENSES = ["MIT", "GPL-3.0 OR MIT", null];
const TOPICS = ["common", "frequent", "rare-1", "rare-2"];
/** Few values, so that most rows share theirs; and extreme ones. */
const COUNTS = [0, 0, 1, 1, 7, 7, 7, 1_000, 1e12, null];
const TIMES = [
  NOW - 400 * DAY_MS,
  NOW - 400 * DAY_MS + 1,
  NOW - 400 * DAY_MS + 1_000,
  NOW - 3 * DAY_MS,
  NOW - DAY_MS,
  null,
];

const facts = fc.record({
  stars: fc.constantFrom(...COUNTS),
  forks: fc.constantFrom(...COUNTS),
  language: fc.constantFrom(...LANGUAGES),
  license: fc.constantFrom(...LICENSES),
  topics: fc.subarray(TOPICS, { maxLength: 3 }),
  createdAt: fc.constantFrom(...TIMES),
  pushedAt: fc.constantFrom(...TIMES),
  archived: fc.constantFrom(true, false, false, null),
  fork: fc.constantFrom(true, false, false, null),
  availability: fc.constantFrom(
    "AVAILABLE" as const,
    "AVAILABLE" as const,
    "AVAILABLE" as const,
    "GONE" as const,
  ),
});

/** Stars at the begin and the end of the windows; equal for most, much less for one that is anomalous. */
const movement = fc.constantFrom(0, 0, 0, 1, 1, 25, -1, -400);

/** The facts of a catalogue, and how its stars moved. */
export const catalogues = fc.array(fc.tuple(facts, movement), {
  minLength: REPOSITORIES,
  maxLength: REPOSITORIES,
});

/** A repository of such a catalogue. */
export function observationOf(index: number, given: Facts, moved: number): Observation {
  const stars = Math.min(given.stars ?? 0, 1e9);
  const snapshot = (days: number, count: number) => ({
    capturedAt: NOW - days * DAY_MS,
    stars: Math.max(0, count),
    forks: index % 5 === 0 ? null : Math.max(0, Math.round(count / 3)),
    openIssues: null,
    watchers: null,
    source: "OBSERVED" as const,
  });
  return {
    provider: index % 4 === 0 ? "CODEBERG" : "GITHUB",
    owner: "owner",
    name: `name-${index}`,
    at: NOW,
    facts: { ...given, description: index % 2 === 0 ? "even" : "odd" },
    snapshots:
      index % 7 === 0
        ? [snapshot(0, stars)]
        : [7, 6, 1, 0].map((days) => snapshot(days, stars + (7 - days) * moved)),
  };
}

const TIME_BOUNDS = [0, NOW - 400 * DAY_MS + 1, NOW - 400 * DAY_MS + 1_000, NOW - DAY_MS, NOW];

const FILTERS: readonly Filters[] = [
  ...["GITHUB", "CODEBERG", "NOWHERE"].map((provider) => ({ provider })),
  ...[["rust"], ["c++", "rust"], ["no-such-language"]].map((language) => ({ language })),
  ...[["common"], ["frequent", "rare-1"], ["rare-1", "rare-2"], ["no-such-topic"]].map((topic) => ({
    topic,
  })),
  ...["MIT", "mit"].map((license) => ({ license })),
  ...[0, 1, 2, 1e12].flatMap((stars) => [
    { minStars: stars },
    { maxStars: stars },
    { minStars: 1, maxStars: stars },
  ]),
  ...TIME_BOUNDS.flatMap((time) => [{ createdAfter: time }, { createdBefore: time }, { pushedAfter: time }]),
  ...[true, false].flatMap((flag) => [{ archived: flag }, { fork: flag }]),
  { reliableOnly: true },
  { excludeAnomalous: true },
];

/** Few filters at a time, or hardly any list has rows. */
const filters = fc
  .array(fc.constantFrom(...FILTERS), { maxLength: 3 })
  .map((some): Filters => Object.assign({}, ...some));

/** Lists of such a catalogue. */
export const listsOf = fc.record({
  filters,
  scope: fc.constantFrom<ListSpec["scope"][]>(
    { kind: "all" },
    { kind: "all" },
    { kind: "all" },
    { kind: "search", text: "even" },
  ),
  sort: fc.constantFrom(...SORTS.filter((sort): sort is Exclude<Sort, "relevance"> => sort !== "relevance")),
  direction: fc.constantFrom("asc" as const, "desc" as const),
  window: fc.constantFrom(...WINDOWS),
  limit: fc.integer({ min: 1, max: 12 }),
});
