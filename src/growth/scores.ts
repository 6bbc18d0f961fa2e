import type { ScoreName, Window } from "./definitions.js";

/** From 0 to 100 with two decimals; null where too little is known to compute a score. */
export type Scores = Record<ScoreName, number | null>;

/** Everything the scores of one repository in one window depend on. */
export interface ScoreInput {
  window: Window;
  windowHours: number;
  /** Hours between the two snapshots compared. */
  coveredHours: number;
  starsFrom: number;
  /** The part of the gains that counts. */
  starsCounted: number;
  forksFrom: number | null;
  forksCounted: number | null;
  openIssuesFrom: number | null;
  openIssuesDelta: number | null;
  /** Days since creation and since the last push, at the end of the window. */
  ageDays: number | null;
  idleDays: number | null;
  /** See `Scales`. */
  scales: Scales;
}

/**
 * The heat that one in twenty of a provider's growing repositories exceeds in a window. Scores measure heat against it, so
 * that in mixed lists a large forge does not push out a small one.
 */
export interface Scales {
  stars: number;
  forks: number;
}

/** One term of a score: its value and its weight, both from 0 to 1. */
interface Term {
  name: string;
  value: number;
  weight: number;
}

export type Explanation = Record<ScoreName, { score: number | null; terms: Term[] }>;

/** Stars added to every repository before relative growth is computed, so that 5 new stars on 3 are not +167 %. */
export const STARS_PRIOR = 50;
export const FORKS_PRIOR = 20;
const ISSUES_PRIOR = 10;
/** Stars gained at which the evidence for growth is one half. */
const HALF_EVIDENCE: Readonly<Record<Window, number>> = { "24h": 10, "7d": 30, "30d": 80 };
/** Repositories gain about one fork for three stars. */
const FORKS_PER_STAR = 1 / 3;
/** Relative growth at which the growth term is one half, before evidence. */
const HALF_GROWTH: Readonly<Record<Window, number>> = { "24h": 0.05, "7d": 0.15, "30d": 0.4 };
/** Days without a push after which the push term is one half. */
const HALF_IDLE_DAYS = 14;
/** Issues opened or closed per day, divided by the root of their number, at which the issue term is one half. */
const HALF_ISSUE_MOVEMENT = 0.2;
/** A repository older than this is not new. */
const NEW_DAYS = 90;

/** x / (x + half): 0 at 0, one half at `half`, towards 1. */
function saturate(value: number, half: number): number {
  return value <= 0 ? 0 : value / (value + half);
}

/** The gain divided by the root of the previous count: how surprising it is for the size (Poisson). */
function heat(gained: number, before: number, prior: number): number {
  return gained <= 0 ? 0 : gained / Math.sqrt(before + prior);
}

/** The terms of all scores, from 0 to 1; null where too little is known. */
type TermName = "stars" | "growth" | "forks" | "supportedForks" | "pushes" | "issues" | "activity";
type Terms = Readonly<Record<TermName, number | null>>;

/** A weighted mean of terms. */
type Mean = readonly (readonly [term: TermName, weight: number])[];

const ACTIVITY: Mean = [
  ["pushes", 0.7],
  ["issues", 0.3],
];
const MOMENTUM: Mean = [
  ["stars", 0.7],
  ["forks", 0.3],
];
const BROAD: Mean = [
  ["stars", 0.6],
  ["growth", 0.2],
  ["forks", 0.1],
  ["activity", 0.1],
];
const STARS: Mean = [["stars", 1]];
const FORKS: Mean = [["supportedForks", 1]];
const GROWTH: Mean = [["growth", 1]];

/** The six scores. Pure: the same input gives the same scores everywhere. */
export function score(input: ScoreInput): Scores {
  return scoresOf(input, termsOf(input));
}

/** The six scores with their terms. */
export function explain(input: ScoreInput): Explanation {
  const terms = termsOf(input);
  const scores = scoresOf(input, terms);
  const youth = youthOf(input);
  return {
    trending: { score: scores.trending, terms: shares(BROAD, terms) },
    rising: { score: scores.rising, terms: shares(GROWTH, terms) },
    newHot: {
      score: scores.newHot,
      terms: [
        ...shares(MOMENTUM, terms),
        ...(youth === null ? [] : [{ name: "youth (a factor)", value: youth, weight: 1 }]),
      ],
    },
    starMomentum: { score: scores.starMomentum, terms: shares(STARS, terms) },
    forkMomentum: { score: scores.forkMomentum, terms: shares(FORKS, terms) },
    activity: { score: scores.activity, terms: shares(ACTIVITY, terms) },
  };
}

function scoresOf(input: ScoreInput, terms: Terms): Scores {
  const momentum = meanOf(MOMENTUM, terms);
  const youth = youthOf(input);
  return {
    // Forks and pushes alone do not make a repository trend.
    trending: input.starsCounted > 0 ? meanOf(BROAD, terms) : 0,
    rising: meanOf(GROWTH, terms),
    newHot: youth === null || momentum === null ? null : round(youth * momentum),
    starMomentum: meanOf(STARS, terms),
    forkMomentum: meanOf(FORKS, terms),
    activity: meanOf(ACTIVITY, terms),
  };
}

function termsOf(input: ScoreInput): Terms {
  const { window, windowHours, coveredHours, starsFrom, idleDays, scales } = input;
  const pace = windowHours / coveredHours;
  const stars = Math.max(0, input.starsCounted) * pace;
  const evidence = saturate(stars, HALF_EVIDENCE[window]);
  const terms = {
    stars: evidence * saturate(heat(stars, starsFrom, STARS_PRIOR), scales.stars),
    growth: evidence * saturate(stars / (starsFrom + STARS_PRIOR), HALF_GROWTH[window]),
    forks: forkTermOf(input, input.forksCounted, pace),
    supportedForks: supportedForkTerm(input, { pace, evidence }),
    pushes: idleDays === null ? null : HALF_IDLE_DAYS / (HALF_IDLE_DAYS + Math.max(0, idleDays)),
    issues: issueTermOf(input),
    activity: null as number | null,
  };
  const activity = meanOf(ACTIVITY, terms);
  terms.activity = activity === null ? null : activity / 100;
  return terms;
}

/** 1 for a repository of today, 0 from NEW_DAYS on; null: its age is unknown. */
function youthOf({ ageDays }: ScoreInput): number | null {
  return ageDays === null ? null : Math.sqrt(Math.max(0, 1 - ageDays / NEW_DAYS));
}

function forkTermOf(
  { window, forksFrom, scales }: ScoreInput,
  forksCounted: number | null,
  pace: number,
): number | null {
  if (forksFrom === null || forksCounted === null) return null;
  const forks = Math.max(0, forksCounted) * pace;
  return (
    saturate(forks, HALF_EVIDENCE[window] * FORKS_PER_STAR) *
    saturate(heat(forks, forksFrom, FORKS_PRIOR), scales.forks)
  );
}

/**
 * The fork term of the forks that stars support, times the evidence for the stars: forks that come without stars are course work
 * or scripts.
 */
function supportedForkTerm(
  input: ScoreInput,
  { pace, evidence }: { pace: number; evidence: number },
): number | null {
  const { forksCounted, starsCounted } = input;
  if (forksCounted === null) return null;
  const term = forkTermOf(input, Math.min(forksCounted, starsCounted), pace);
  return term === null ? null : term * evidence;
}

function issueTermOf({ openIssuesFrom, openIssuesDelta, coveredHours }: ScoreInput): number | null {
  if (openIssuesFrom === null || openIssuesDelta === null) return null;
  const aDay = Math.abs(openIssuesDelta) / (coveredHours / 24);
  return saturate(heat(aDay, openIssuesFrom, ISSUES_PRIOR), HALF_ISSUE_MOVEMENT);
}

/** The mean of the known terms, times 100; an unknown term leaves its weight to the others. */
function meanOf(mean: Mean, terms: Terms): number | null {
  // Plain loops: a rebuild computes millions of scores.
  const total = weightOf(mean, terms);
  if (total === 0) return null;
  let sum = 0;
  for (const [name, weight] of mean) {
    const value = terms[name];
    if (value !== null) sum += 100 * value * (weight / total);
  }
  return round(sum);
}

/** The known terms with their shares. */
function shares(mean: Mean, terms: Terms): Term[] {
  const total = weightOf(mean, terms);
  return mean.flatMap(([name, weight]) => {
    const value = terms[name];
    return value === null
      ? []
      : [{ name: name === "supportedForks" ? "forks" : name, value, weight: weight / total }];
  });
}

function weightOf(mean: Mean, terms: Terms): number {
  let total = 0;
  for (const [name, weight] of mean) if (terms[name] !== null) total += weight;
  return total;
}

/** To two decimals, as scores are stored, so that stored and computed scores are equal. */
function round(value: number): number {
  return Math.round(Math.min(100, Math.max(0, value)) * 100) / 100;
}
