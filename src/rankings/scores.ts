import type { Window } from "./windows.js";

/** Grows whenever a formula or a constant here changes, so that an old score is never compared with a new one. */
export const SCORE_VERSION = 1;

export const SCORE_NAMES = [
  "trending",
  "rising",
  "newHot",
  "starMomentum",
  "forkMomentum",
  "activity",
] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

/** From 0 to 100 with two decimals; null where a score cannot be told from what is known. */
export type Scores = Record<ScoreName, number | null>;

/** What the scores of one repository in one window are made of. */
export interface ScoreInput {
  window: Window;
  windowHours: number;
  /** Hours between the two snapshots really compared. */
  coveredHours: number;
  starsFrom: number;
  starsDelta: number;
  forksFrom: number | null;
  forksDelta: number | null;
  openIssuesFrom: number | null;
  openIssuesDelta: number | null;
  /** Days since the repository was made, and since it was last pushed to, at the end of the window. */
  ageDays: number | null;
  idleDays: number | null;
  /** The part of the gain that counts: 1 without an anomaly, less with one. */
  counted: number;
  /** What is much for this provider and window; see `Scales`. */
  scales: Scales;
}

/**
 * The heat that the hottest twentieth of a provider's growing repositories reaches in a window. Heat is measured against
 * it, so that a small forge is not drowned by a large one where lists mix them.
 */
export interface Scales {
  stars: number;
  forks: number;
}

/** One term of a score: what it measures, its value from 0 to 1, and its part in the score. */
export interface Term {
  name: string;
  value: number;
  weight: number;
}

export type Explanation = Record<ScoreName, { score: number | null; terms: Term[] }>;

/** Stars added to every repository before growth is taken relative to them; so 3 stars + 5 is not +167 %. */
export const STARS_PRIOR = 50;
export const FORKS_PRIOR = 20;
const ISSUES_PRIOR = 10;
/** Stars gained at which the evidence for growth counts half. */
const HALF_EVIDENCE: Readonly<Record<Window, number>> = { "24h": 10, "7d": 30, "30d": 80 };
/** Forks come at about a third of the pace. */
const FORKS_PER_STAR = 1 / 3;
/** Relative growth that makes half of the full rising term. */
const HALF_GROWTH: Readonly<Record<Window, number>> = { "24h": 0.05, "7d": 0.15, "30d": 0.4 };
/** Days without a push after which the push term is half. */
const HALF_IDLE_DAYS = 14;
/** Movement of issues a day, against the root of their number, that makes half of the issue term. */
const HALF_ISSUE_MOVEMENT = 0.2;
/** A repository older than this is not new. */
const NEW_DAYS = 90;

/** x / (x + half): 0 at 0, one half at `half`, towards 1. */
function saturate(value: number, half: number): number {
  return value <= 0 ? 0 : value / (value + half);
}

/** What is gained against the root of what was there: how surprising it is (Poisson), whatever the size. */
function heat(gained: number, before: number, prior: number): number {
  return gained <= 0 ? 0 : gained / Math.sqrt(before + prior);
}

/** The six scores with the terms they are made of. Pure: the same input gives the same scores, everywhere. */
export function explain(input: ScoreInput): Explanation {
  const { window, windowHours, coveredHours, starsFrom, counted, scales } = input;
  const pace = windowHours / coveredHours;
  const stars = Math.max(0, input.starsDelta) * pace * counted;
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
  const forkMomentum = weigh([term("forks", forkTerm, 1)]);
  const rising = weigh([term("growth", growthTerm, 1)]);
  const momentum = weigh([term("stars", starTerm, 0.7), term("forks", forkTerm, 0.3)]);
  const broad = weigh([
    term("stars", starTerm, 0.6),
    term("growth", growthTerm, 0.2),
    term("forks", forkTerm, 0.1),
    term("activity", activity.score === null ? null : activity.score / 100, 0.1),
  ]);
  return {
    // Without any star gained there is no momentum to be broad about.
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

/** The scores alone. */
export function score(input: ScoreInput): Scores {
  const explained = explain(input);
  return Object.fromEntries(SCORE_NAMES.map((name) => [name, explained[name].score])) as Scores;
}

function forkTermOf(
  { window, forksFrom, forksDelta, counted, scales }: ScoreInput,
  pace: number,
): number | null {
  if (forksFrom === null || forksDelta === null) return null;
  const forks = Math.max(0, forksDelta) * pace * counted;
  return (
    saturate(forks, HALF_EVIDENCE[window] * FORKS_PER_STAR) *
    saturate(heat(forks, forksFrom, FORKS_PRIOR), scales.forks)
  );
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

/** The weighted mean of the terms that are known, times 100; an unknown term leaves its weight to the others. */
function weigh(terms: readonly MaybeTerm[]): { score: number | null; terms: Term[] } {
  const known = terms.filter((one): one is Term => one.value !== null);
  const total = known.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return { score: null, terms: [] };
  const shared = known.map((one) => ({ ...one, weight: one.weight / total }));
  return {
    score: round(shared.reduce((sum, { value, weight }) => sum + 100 * value * weight, 0)),
    terms: shared,
  };
}

/** To two decimals, so that a score is the same number wherever it is kept. */
function round(value: number): number {
  return Math.round(Math.min(100, Math.max(0, value)) * 100) / 100;
}
