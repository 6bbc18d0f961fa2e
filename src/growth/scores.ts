import type { ScoreName, Window } from "./definitions.js";

/** At least 0, with two decimals; null if too little is known to compute a score. Rising and activity are at most 100. */
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
  /** Stars gained on a usual day before; null: unknown. */
  usualPerDay: number | null;
  /** Days since creation and since the last push, at the end of the window. */
  ageDays: number | null;
  idleDays: number | null;
}

/** The numbers that the formulas use. Gains are those that count, scaled to the length of the window. */
interface Values {
  gained: number;
  /** Stars on a usual day; 0 if unknown. */
  usualDay: number;
  /** Stars and forks at the start of the window. */
  stars: number;
  forks: number | null;
  /** At most as many as stars: forks that come without stars are course work or scripts. */
  forksGained: number | null;
  ageDays: number | null;
  idleDays: number | null;
  /** Issues opened or closed per day: the change of their number. */
  issuesPerDay: number | null;
  openIssues: number | null;
}
type ValueName = keyof Values;

/** A score with its formula, and the known values that it uses. */
interface ExplainedScore {
  score: number | null;
  formula: string;
  values: Partial<Record<ValueName, number>>;
}

export type Explanation = Record<ScoreName, ExplainedScore>;

/** Stars added to a usual day, so that a few stars are no surprise if none are usual. */
const USUAL_PRIOR = 10;
/** Added to every repository before its growth is compared with its size, so that 5 new stars on 3 are not +167 %. */
const STARS_PRIOR = 50;
const FORKS_PRIOR = 20;
const ISSUES_PRIOR = 10;
/** Stars gained at which a rising score is half the value of the relative growth. */
const HALF_EVIDENCE: Readonly<Record<Window, number>> = { "24h": 10, "7d": 30, "30d": 80 };
/** Relative growth that is worth half of the highest rising score. */
const HALF_GROWTH: Readonly<Record<Window, number>> = { "24h": 0.05, "7d": 0.15, "30d": 0.4 };
/** A repository older than this is not new. */
const NEW_DAYS = 90;
/** Days without a push after which the push part of the activity is one half. */
const HALF_IDLE_DAYS = 14;
/** Issues moved per day, divided by the root of their number, at which the issue part is one half. */
const HALF_ISSUE_MOVEMENT = 0.2;
const PUSH_WEIGHT = 0.7;

/** The formulas as people read them, and the values that they use. */
const FORMULAS: Readonly<
  Record<ScoreName, { text: (window: Window) => string; uses: readonly ValueName[] }>
> = {
  trending: { text: () => `gained ÷ √(usual day + ${USUAL_PRIOR})`, uses: ["gained", "usualDay"] },
  rising: {
    text: (window) =>
      `100 × gained ÷ (gained + ${HALF_EVIDENCE[window]}) × growth ÷ (growth + ${HALF_GROWTH[window]}), with growth = gained ÷ (stars + ${STARS_PRIOR})`,
    uses: ["gained", "stars"],
  },
  newHot: {
    text: () => `√(1 − age ÷ ${NEW_DAYS}) × gained ÷ √(stars + ${STARS_PRIOR})`,
    uses: ["ageDays", "gained", "stars"],
  },
  starMomentum: { text: () => `gained ÷ √(stars + ${STARS_PRIOR})`, uses: ["gained", "stars"] },
  forkMomentum: {
    text: () => `forks gained ÷ √(forks + ${FORKS_PRIOR}), with at most as many forks as stars gained`,
    uses: ["forksGained", "forks"],
  },
  activity: {
    text: () =>
      `70 × ${HALF_IDLE_DAYS} ÷ (${HALF_IDLE_DAYS} + days idle) + 30 × moved ÷ (moved + ${HALF_ISSUE_MOVEMENT}), with moved = issues per day ÷ √(open issues + ${ISSUES_PRIOR})`,
    uses: ["idleDays", "issuesPerDay", "openIssues"],
  },
};

/** The formula of a score in a window. */
export function formulaOf(name: ScoreName, window: Window): string {
  return FORMULAS[name].text(window);
}

/** The six scores. Pure: the same input gives the same scores everywhere. */
export function score(input: ScoreInput): Scores {
  return scoresOf(input, valuesOf(input));
}

/** The six scores with their formulas and values. */
export function explain(input: ScoreInput): Explanation {
  const values = valuesOf(input);
  const scores = scoresOf(input, values);
  const explained = Object.entries(FORMULAS).map(([name, { text, uses }]): [string, ExplainedScore] => {
    const known = uses.flatMap((use) => {
      const value = values[use];
      return value === null ? [] : [[use, value] as const];
    });
    const formula = text(input.window);
    return [name, { score: scores[name as ScoreName], formula, values: Object.fromEntries(known) }];
  });
  return Object.fromEntries(explained) as Explanation;
}

function valuesOf(input: ScoreInput): Values {
  const { windowHours, coveredHours, starsCounted, forksCounted, openIssuesDelta } = input;
  const pace = windowHours / coveredHours;
  const days = coveredHours / 24;
  return {
    gained: Math.max(0, starsCounted) * pace,
    usualDay: input.usualPerDay ?? 0,
    stars: input.starsFrom,
    forks: input.forksFrom,
    forksGained: forksCounted === null ? null : Math.max(0, Math.min(forksCounted, starsCounted)) * pace,
    ageDays: input.ageDays,
    idleDays: input.idleDays,
    issuesPerDay: openIssuesDelta === null ? null : Math.abs(openIssuesDelta) / days,
    openIssues: input.openIssuesFrom,
  };
}

function scoresOf({ window }: ScoreInput, values: Values): Scores {
  const { gained, usualDay, stars, forks, forksGained, ageDays } = values;
  const growth = gained / (stars + STARS_PRIOR);
  const momentum = gained / Math.sqrt(stars + STARS_PRIOR);
  const rising = saturate(gained, HALF_EVIDENCE[window]) * saturate(growth, HALF_GROWTH[window]);
  return {
    trending: round(gained / Math.sqrt(usualDay + USUAL_PRIOR)),
    rising: round(100 * rising),
    newHot: ageDays === null ? null : round(Math.sqrt(Math.max(0, 1 - ageDays / NEW_DAYS)) * momentum),
    starMomentum: round(momentum),
    forkMomentum:
      forks === null || forksGained === null ? null : round(forksGained / Math.sqrt(forks + FORKS_PRIOR)),
    activity: activityOf(values),
  };
}

/** Pushes and issues; if one of them is unknown, the other alone. */
function activityOf({ idleDays, issuesPerDay, openIssues }: Values): number | null {
  const pushes = idleDays === null ? null : HALF_IDLE_DAYS / (HALF_IDLE_DAYS + Math.max(0, idleDays));
  const issues =
    issuesPerDay === null || openIssues === null
      ? null
      : saturate(issuesPerDay / Math.sqrt(openIssues + ISSUES_PRIOR), HALF_ISSUE_MOVEMENT);
  if (pushes === null || issues === null) {
    const known = pushes ?? issues;
    return known === null ? null : round(100 * known);
  }
  return round(100 * (PUSH_WEIGHT * pushes + (1 - PUSH_WEIGHT) * issues));
}

/** x ÷ (x + half): 0 at 0, one half at `half`, towards 1. */
function saturate(value: number, half: number): number {
  return value / (value + half);
}

/** To two decimals, as scores are stored, so that stored and computed scores are equal. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
