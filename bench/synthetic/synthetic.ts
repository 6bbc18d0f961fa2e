/**
 * A synthetic catalogue: generated repositories of several providers with plausible histories, for benchmarks and tests.
 * The same seed gives the same catalogue. It is only written to a database marked as synthetic.
 *
 * Its distributions are those of real catalogues, as a kinder one would make benchmarks lie: stars follow a power law with many
 * ties among the small ones, most repositories gain nothing in a day, topics and languages reach from those of every tenth
 * repository to those of one, facts are missing, and nothing is stored in the order in which it is listed.
 */

import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Catalog, Facts, Observation, Snapshot } from "../../src/repositories/repositories.js";
import { history } from "./history.js";
import { Random } from "./random.js";
import { LANGUAGES, LICENSES, PEOPLE, THINGS, TOPICS } from "./vocabulary.js";
import { drawDescription, drawWord, WORDS } from "./words.js";

export interface SyntheticSize {
  repositories: number;
  /** Days of history, one snapshot a day. */
  days: number;
  seed: number;
}

export interface SyntheticOptions extends SyntheticSize {
  /** Time of the newest snapshots, in ms since 1970. */
  end: number;
  /** Full names, the most popular repository first. Further repositories get names made of words. */
  names?: readonly string[];
}

/** Repositories recorded in one transaction. */
const BATCH = 1_000;

/** A prime larger than most catalogues, so that its multiples visit each popularity once, far from the one before. */
const POPULARITY_STEP = 7_368_787;

/** Topics beyond the real ones are pairs of words. */
const DISTINCT_TOPICS = 30_000;
const TOPIC_EXPONENT = 0.8;

/** Fills a catalogue. Throws if it contains data that is not synthetic. */
export async function fillWithSynthetic(
  catalog: Catalog,
  options: SyntheticOptions,
  onProgress: (repositories: number) => void = () => {},
): Promise<void> {
  await catalog.markSynthetic();
  for (let from = 0; from < options.repositories; from += BATCH) {
    const count = Math.min(BATCH, options.repositories - from);
    await catalog.record(Array.from({ length: count }, (_, i) => syntheticRepository(from + i, options)));
    onProgress(from + count);
  }
}

/** How popular the `index`-th repository is: 0 for the most popular one, at most `repositories` - 1. */
export function popularityOf(index: number, { repositories, seed }: SyntheticSize): number {
  return (index * POPULARITY_STEP + seed) % repositories;
}

/** The inverse of `popularityOf`: which repository has this popularity. */
export function indexOfPopularity(popularity: number, { repositories, seed }: SyntheticSize): number {
  // Extended Euclid: the inverse of the step modulo the number of repositories.
  let [rest, other] = [POPULARITY_STEP % repositories, repositories];
  let [factor, otherFactor] = [1, 0];
  while (rest > 1) {
    const quotient = Math.floor(other / rest);
    [other, rest] = [rest, other - quotient * rest];
    [otherFactor, factor] = [factor, otherFactor - quotient * factor];
  }
  const modulo = (value: number) => ((value % repositories) + repositories) % repositories;
  return modulo(modulo(popularity - seed) * modulo(factor));
}

/** The history of the `index`-th repository. */
export function syntheticRepository(index: number, options: SyntheticOptions): Observation {
  const random = new Random(Math.imul(options.seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const popularity = popularityOf(index, options);
  const named = options.names?.[popularity];
  const provider =
    named !== undefined
      ? "GITHUB"
      : random.weighted([
          ["GITHUB", 80],
          ["GITLAB", 12],
          ["CODEBERG", 8],
        ] as const);
  const { owner, name } = named === undefined ? madeName(random, provider, index) : split(named);
  const end = options.end - random.between(0, 90) * 60_000;
  const isNew = random.chance(0.05);
  const isGone = random.chance(0.02);
  const firstDay = isNew ? random.between(0, Math.max(0, options.days - 3)) : 0;
  const lastDay = isGone ? random.between(firstDay, options.days - 1) : options.days - 1;
  const start = isNew ? random.between(0, 20) : startOf(random, popularity, provider);
  const snapshots = history(random, { start, firstDay, lastDay, days: options.days, end, provider });
  const first = snapshots[0]?.capturedAt ?? end;
  const at = snapshots.at(-1)?.capturedAt ?? end;
  return {
    provider,
    providerId: String(1_000_000 + index),
    owner,
    name,
    at,
    facts: {
      url: `https://${provider.toLowerCase()}.example/${owner}/${name}`,
      ...traits(random, name, provider),
      ...counts(snapshots.at(-1)),
      availability: isGone ? "GONE" : "AVAILABLE",
      ...times(random, isNew ? first - 6 * HOUR_MS : undefined, { first, at, end: options.end }),
    },
    snapshots,
    ...(random.chance(0.01) ? { previousNames: [{ fullName: `${owner}-old/${name}`, until: first }] } : {}),
  };
}

/** Stars by popularity: about 450,000, 21,000, 400 and 50 at the 1st, 1,000th, 100,000th and millionth; every fifth has few. */
function startOf(random: Random, popularity: number, provider: string): number {
  if (popularity >= 1_000 && random.chance(0.2)) return random.geometric(6);
  const size = provider === "GITHUB" ? 1 : 0.05;
  return Math.max(1, Math.round((size * 450_000) / (1 + popularity / 30) ** 0.87));
}

function split(fullName: string): { owner: string; name: string } {
  const slash = fullName.lastIndexOf("/");
  return { owner: fullName.slice(0, slash), name: fullName.slice(slash + 1) };
}

/** A name of one to three words, distinct through the index. */
function madeName(random: Random, provider: string, index: number): { owner: string; name: string } {
  const crowd = random.chance(0.3) ? "" : String(random.between(2, 9_999));
  const group = provider === "GITLAB" && random.chance(0.4) ? `/${random.pick(TOPICS)}` : "";
  // The first repositories are all different things; after that the index keeps names distinct.
  const thing = THINGS[index] ?? (random.chance(0.3) ? random.pick(THINGS) : drawWord(random));
  const words = Array.from({ length: random.between(0, 2) }, () => drawWord(random));
  const plain = [...words, thing].map((word) => word.replaceAll(/[+#]/g, "p")).join("-");
  return {
    owner: `${random.pick(PEOPLE)}${crowd}${group}`,
    name: index < THINGS.length ? plain : `${plain}-${index.toString(36)}`,
  };
}

/** What kind of repository it is. */
function traits(random: Random, name: string, provider: string): Facts {
  // Lists of GitLab have no language.
  const isLanguageKnown = provider === "GITLAB" ? random.chance(0.1) : random.chance(0.91);
  const language = isLanguageKnown ? random.weighted(LANGUAGES) : null;
  const topics = drawTopics(random, language);
  const about = [
    ...(random.chance(0.3) ? [name.replaceAll(/[-_.]+/g, " ")] : []),
    ...(random.chance(0.3) && topics[0] !== undefined ? [topics[0].replaceAll("-", " ")] : []),
    ...(random.chance(0.25) && language !== null ? [`in ${language}`] : []),
  ];
  const isState = random.chance(0.95);
  return {
    description: random.chance(0.07) ? null : drawDescription(random, about),
    homepage: random.chance(0.2) ? `https://${name.toLowerCase()}.example` : null,
    language,
    license: random.weighted(LICENSES),
    topics,
    fork: isState ? random.chance(0.04) : null,
    archived: isState ? random.chance(0.07) : null,
  };
}

function drawTopics(random: Random, language: string | null): string[] {
  if (random.chance(0.5)) return [];
  const topics = new Set<string>();
  if (language !== null && random.chance(0.35)) topics.add(language.toLowerCase().replaceAll(" ", "-"));
  const count = Math.min(20, 1 + random.geometric(4.5));
  for (let i = 0; i < count; i++) topics.add(topicOfRank(random.zipf(DISTINCT_TOPICS, TOPIC_EXPONENT)));
  return [...topics];
}

function topicOfRank(rank: number): string {
  const [one, other] = [WORDS[rank % WORDS.length], WORDS[(rank * 7_919) % 1_291]];
  return TOPICS[rank] ?? `${one}-${other}`;
}

function counts(last: Snapshot | undefined): Facts {
  return {
    stars: last?.stars ?? 0,
    forks: last?.forks ?? null,
    openIssues: last?.openIssues ?? null,
    watchers: last?.watchers ?? null,
  };
}

/** Most repositories are young, and most have not been pushed to for months. */
function times(
  random: Random,
  created: number | undefined,
  { first, at, end }: { first: number; at: number; end: number },
): Facts {
  const age = (400 + 6_000 * random.next() ** 1.6) * DAY_MS;
  const createdAt = Math.floor(created ?? Math.min(first, end - age));
  const sincePush = random.chance(0.4) ? random.next() * 20 * DAY_MS : random.next() ** 2 * (at - createdAt);
  return { createdAt, pushedAt: Math.max(createdAt, Math.floor(at - sincePush)) };
}
