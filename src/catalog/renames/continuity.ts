import { DAY_MS } from "../../clock.js";
import type { Likeness } from "./likeness.js";

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
/** What counts may differ by in a week, or a part of one, beyond the pace before: this many, or this part. */
const LEAST_DIFFERENCE = { stars: 30, forks: 10, few: 3 };
const PART = 0.02;
/** The pace may change by this factor. */
const PACE = 3;
/** Part and stars for names that share an owner and a language, but neither description nor name. */
const OWNER_PART = 0.005;
const OWNER_STARS = 1_000;
/** Two names in one file, with counts fetched seconds apart. */
const SAME_FILE = { stars: 10, part: 0.005 };
/** What becomes popular in these days may grow by this factor under its new name, with forks to match. */
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
