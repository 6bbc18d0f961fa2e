import type { ScoreName } from "../definitions.js";
import type { Window } from "../windows.js";

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
export interface Term {
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

/** The six scores with their terms. Pure: the same input gives the same scores everywhere. */
export function explain(input: ScoreInput): Explanation {
  const { window, windowHours, coveredHours, starsFrom, scales } = input;
  const pace = windowHours / coveredHours;
  const stars = Math.max(0, input.starsCounted) * pace;
  const evidence = saturate(stars, HALF_EVIDENCE[window]);
  const starTerm = evidence * saturate(heat(stars, starsFrom, STARS_PRIOR), scales.stars);
  const growthTerm = evidence * saturate(stars / (starsFrom + STARS_PRIOR), HALF_GROWTH[window]);

  const forkTerm = forkTermOf(input, pace);
  const pushTerm =
    input.idleDays === null ? null : HALF_IDLE_DAYS / (HALF_IDLE_DAYS + Math.max(0, input.idleDays));
  const issueTerm = issueTermOf(input);
  const activity = weigh([term("pushes", pushTerm, 0.7), term("issues", issueTerm, 0.3)]);
  const youth = input.ageDays === null ? null : Math.sqrt(Math.max(0, 1 - input.ageDays / NEW_DAYS));

  const starMomentum = weigh([term("stars", starTerm, 1)]);
  const forkMomentum = weigh([term("forks", supportedForkTerm(input, { pace, evidence }), 1)]);
  const rising = weigh([term("growth", growthTerm, 1)]);
  const momentum = weigh([term("stars", starTerm, 0.7), term("forks", forkTerm, 0.3)]);
  const broad = weigh([
    term("stars", starTerm, 0.6),
    term("growth", growthTerm, 0.2),
    term("forks", forkTerm, 0.1),
    term("activity", activity.score === null ? null : activity.score / 100, 0.1),
  ]);
  return {
    // Forks and pushes alone do not make a repository trend.
    trending: stars > 0 ? broad : { ...broad, score: 0 },
    rising,
    newHot: {
      score: youth === null || momentum.score === null ? null : round(youth * momentum.score),
      terms: [
        ...momentum.terms,
        ...(youth === null ? [] : [{ name: "youth (a factor)", value: youth, weight: 1 }]),
      ],
    },
    starMomentum,
    forkMomentum,
    activity,
  };
}

export function score(input: ScoreInput): Scores {
  const { trending, rising, newHot, starMomentum, forkMomentum, activity } = explain(input);
  return {
    trending: trending.score,
    rising: rising.score,
    newHot: newHot.score,
    starMomentum: starMomentum.score,
    forkMomentum: forkMomentum.score,
    activity: activity.score,
  };
}

function forkTermOf({ window, forksFrom, forksCounted, scales }: ScoreInput, pace: number): number | null {
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
  const term = forkTermOf({ ...input, forksCounted: Math.min(forksCounted, starsCounted) }, pace);
  return term === null ? null : term * evidence;
}

function issueTermOf({ openIssuesFrom, openIssuesDelta, coveredHours }: ScoreInput): number | null {
  if (openIssuesFrom === null || openIssuesDelta === null) return null;
  const aDay = Math.abs(openIssuesDelta) / (coveredHours / 24);
  return saturate(heat(aDay, openIssuesFrom, ISSUES_PRIOR), HALF_ISSUE_MOVEMENT);
}

interface MaybeTerm {
  name: string;
  value: number | null;
  weight: number;
}

function term(name: string, value: number | null, weight: number): MaybeTerm {
  return { name, value, weight };
}

/** The weighted mean of the known terms, times 100; an unknown term leaves its weight to the others. */
function weigh(terms: readonly MaybeTerm[]): { score: number | null; terms: Term[] } {
  // Plain loops: a rebuild computes millions of scores.
  let total = 0;
  for (const { value, weight } of terms) if (value !== null) total += weight;
  if (total === 0) return { score: null, terms: [] };
  const shared: Term[] = [];
  let sum = 0;
  for (const { name, value, weight } of terms) {
    if (value === null) continue;
    const share = weight / total;
    shared.push({ name, value, weight: share });
    sum += 100 * value * share;
  }
  return { score: round(sum), terms: shared };
}

/** To two decimals, as scores are stored, so that stored and computed scores are equal. */
function round(value: number): number {
  return Math.round(Math.min(100, Math.max(0, value)) * 100) / 100;
}
