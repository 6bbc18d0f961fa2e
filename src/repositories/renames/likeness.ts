/** Whether a name may continue as another: what the two have in common, and whether the counts go on. */
import { DAY_MS } from "../../lib/clock.js";
import { nameKey } from "../repository.js";

/** What two names of a repository have in common, apart from their counts. */
export interface Likeness {
  sameDescription: boolean;
  /** The same name under another owner. */
  sameName: boolean;
  /** Names that differ in punctuation or a few letters, or one of which contains the other. */
  similarName: boolean;
  sameOwner: boolean;
  sameLanguage: boolean;
}

/** The facts of a name that are compared. */
export interface NameFacts {
  owner: string;
  name: string;
  /** Its beginning at least. */
  description: string | null;
  language: string | null;
}

/** Shorter descriptions, such as "test", say nothing. */
const MIN_DESCRIPTION = 10;
/** A name in a longer one counts from this length on. */
const MIN_PART = 4;
/** Longer names are compared up to here, to bound the time. */
const MAX_COMPARED = 100;
/** Names are similar if at most one in this many of their letters differs. */
const LETTERS_PER_EDIT = 5;

const fold = (text: string): string => text.trim().toLowerCase();
const letters = (name: string): string =>
  name
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

export function likenessOf(from: NameFacts, to: NameFacts): Likeness {
  const sameName = fold(from.name) === fold(to.name);
  return {
    sameDescription: from.description !== null && descriptionKey(from) === descriptionKey(to),
    sameName,
    similarName: sameName || areSimilar(letters(from.name), letters(to.name)),
    sameOwner: fold(from.owner) === fold(to.owner),
    sameLanguage: from.language !== null && from.language === to.language,
  };
}

/** The strength of a likeness, as a whole number. */
export function strengthOf({
  sameDescription,
  sameName,
  similarName,
  sameOwner,
  sameLanguage,
}: Likeness): number {
  return (
    (sameDescription ? 8 : 0) +
    (sameName ? 4 : similarName ? 2 : 0) +
    (sameOwner ? 2 : 0) +
    (sameLanguage ? 1 : 0)
  );
}

/** Two names that are alike share at least one of these keys. */
export function keysOf(facts: NameFacts): string[] {
  const description = descriptionKey(facts);
  const name = letters(facts.name);
  return [
    `owner ${fold(facts.owner)}`,
    ...(name === "" ? [] : [`name ${name}`]),
    ...(description === undefined ? [] : [`description ${description}`]),
  ];
}

/** Undefined for a description that says nothing. */
function descriptionKey({ description, owner, name }: NameFacts): string | undefined {
  const text = fold(description ?? "");
  return text.length < MIN_DESCRIPTION || text === nameKey(owner, name) ? undefined : text;
}

function areSimilar(a: string, b: string): boolean {
  if (a === b) return a !== "";
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= MIN_PART && long.includes(short)) return true;
  const most = Math.floor(long.length / LETTERS_PER_EDIT);
  return long.length - short.length <= most && editDistance(short, long) <= most;
}

/** Letters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (before[j] ?? 0) + (letter === b[j] ? 0 : 1);
      row.push(Math.min(replaced, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}

/** The counts of a name at one end of its history. */
export interface Counts {
  at: number;
  stars: number;
  forks: number | null;
}

/** The last counts of a name, and how many stars it gained a day before; 0 if unknown. */
export interface LastCounts extends Counts {
  starsPerDay: number;
}

/** Fewer stars than this could belong to anything: more has to agree. */
const FEW_STARS = 50;
/** Largest difference of counts in a week, or a part of one, beyond the pace before: this many, or this part. */
const LEAST_DIFFERENCE = { stars: 30, forks: 10, few: 3 };
const PART = 0.02;
/** The pace may change by this factor. */
const PACE = 3;
/** Part and stars for names that share an owner and a language, but neither description nor name. */
const OWNER_PART = 0.005;
const OWNER_STARS = 1_000;
/** Two names in one file, with counts fetched seconds apart. */
const SAME_FILE = { stars: 10, part: 0.005 };
/** A repository that becomes popular may grow by this factor in these days under its new name, with forks to match. */
const LEAP = 2;
const LEAP_STARS = 1_000;
const LEAP_DAYS = 3;

/** Whether counts that end under one name can continue under another, with what the names have in common. */
export function continues(from: LastCounts, to: Counts, likeness: Likeness): boolean {
  const days = (to.at - from.at) / DAY_MS;
  if (days < 0 || !isEnough(from, likeness)) return false;
  if (days === 0) return likeness.sameDescription && isNear(from, to, SAME_FILE);
  return isSteady(from, to, { days, likeness }) || isLeap(from, to, { days, likeness });
}

/** Whether two names have enough in common for counts of this size. */
function isEnough({ stars }: Counts, likeness: Likeness): boolean {
  const { sameDescription, sameName, similarName, sameOwner, sameLanguage } = likeness;
  if (stars < FEW_STARS) return sameDescription && (similarName || sameOwner);
  return (
    sameDescription ||
    sameName ||
    (sameOwner && similarName) ||
    (sameOwner && sameLanguage && stars >= OWNER_STARS)
  );
}

function isSteady(
  from: LastCounts,
  to: Counts,
  { days, likeness }: { days: number; likeness: Likeness },
): boolean {
  const { sameDescription, sameName, similarName } = likeness;
  const weeks = Math.ceil(days / 7);
  const isFew = from.stars < FEW_STARS;
  const isByOwnerAlone = !sameDescription && !sameName && !similarName;
  // A whole description and a name agree by chance hardly ever, so the counts may say less.
  const part = (isByOwnerAlone ? OWNER_PART : PART) * (sameDescription && sameName ? 2 : 1);
  const least = isFew ? LEAST_DIFFERENCE.few : LEAST_DIFFERENCE.stars;
  const pace = PACE * Math.abs(from.starsPerDay) * days;
  const stars = Math.max(least, part * from.stars) * weeks + pace;
  if (Math.abs(to.stars - from.stars) > stars) return false;
  if (from.forks === null || to.forks === null) return true;
  const leastForks = isFew ? LEAST_DIFFERENCE.few : LEAST_DIFFERENCE.forks;
  // Forks keep pace with stars.
  const forks =
    Math.max(leastForks, part * from.forks) * weeks + (pace * from.forks) / Math.max(1, from.stars);
  return Math.abs(to.forks - from.forks) <= forks;
}

/** Whether a repository of the moment has gained much under its new name, in stars and forks alike. */
function isLeap(
  from: LastCounts,
  to: Counts,
  { days, likeness }: { days: number; likeness: Likeness },
): boolean {
  if (!likeness.sameDescription || !likeness.sameLanguage) return false;
  if (days > LEAP_DAYS || from.stars < LEAP_STARS || from.forks === null || to.forks === null) return false;
  const grew = (before: number, after: number) => after >= before && after <= LEAP * before;
  if (!grew(from.stars, to.stars) || !grew(from.forks, to.forks)) return false;
  const ratio = (to.forks / to.stars) * (from.stars / Math.max(1, from.forks));
  return ratio > 0.75 && ratio < 1.33;
}

function isNear(from: Counts, to: Counts, { stars, part }: typeof SAME_FILE): boolean {
  const near = (before: number, after: number) => Math.abs(after - before) <= Math.max(stars, part * before);
  return (
    near(from.stars, to.stars) && (from.forks === null || to.forks === null || near(from.forks, to.forks))
  );
}
