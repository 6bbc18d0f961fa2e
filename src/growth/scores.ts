import type { ScoreName, Window } from "./definitions.js";

/** At least 0, with two decimals; null if too little is known to compute a score. Activity is at most 100. */
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
  /** Whether it is young at the end of the window; null: its age is unknown. */
  isYoung: boolean | null;
  /** Days since the last push, at the end of the window. */
  idleDays: number | null;
}

/** The numbers that the formulas use. Gains are those that count, scaled to the length of the window. */
interface Values {
  gained: number;
  /** Stars gained a day. */
  pace: number;
  /** Stars on a usual day; if unknown, the pace of the window, which is neither a surprise nor a shame. */
  usualDay: number;
  /** Stars and forks at the start of the window. */
  stars: number;
  forks: number | null;
  /** At most as many as stars: forks that come without stars are course work or scripts. */
  forksGained: number | null;
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
/** How much of what is usual is expected: at 1 nothing but surprise counts, at 0 nothing but size. */
const USUAL_POWER = 0.6;
/** What is rising gained at least this many stars, and this many times as many as on usual days. Fewer than one a day count as one. */
const LEAST_RISEN = 100;
const LEAST_TIMES = 2;
/** Added to every repository before its growth is compared with its size, so that 5 new stars on 3 are not +167 %. */
const STARS_PRIOR = 50;
const FORKS_PRIOR = 20;
const ISSUES_PRIOR = 10;
/** Days without a push after which the push part of the activity is one half. */
const HALF_IDLE_DAYS = 14;
/** Issues moved per day, divided by the root of their number, at which the issue part is one half. */
const HALF_ISSUE_MOVEMENT = 0.2;
const PUSH_WEIGHT = 0.7;

/** The formulas as people read them, and the values that they use. */
const FORMULAS: Readonly<
  Record<ScoreName, { text: (window: Window) => string; uses: readonly ValueName[] }>
> = {
  trending: {
    text: () => `gained ÷ (usual day + ${USUAL_PRIOR})^${USUAL_POWER}`,
    uses: ["gained", "usualDay"],
  },
  rising: {
    text: (window) =>
      window === "30d"
        ? "not for 30 days"
        : `stars a day ÷ usual day, from ${LEAST_RISEN} stars and ${LEAST_TIMES} times the usual day on`,
    uses: ["gained", "pace", "usualDay"],
  },
  newHot: {
    text: () =>
      `gained ÷ (usual day + ${USUAL_PRIOR})^${USUAL_POWER}, of what is young and gains its usual day`,
    uses: ["gained", "pace", "usualDay"],
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
  const gained = Math.max(0, starsCounted) * pace;
  const perDay = (24 * gained) / windowHours;
  return {
    gained,
    pace: perDay,
    usualDay: input.usualPerDay ?? perDay,
    stars: input.starsFrom,
    forks: input.forksFrom,
    forksGained: forksCounted === null ? null : Math.max(0, Math.min(forksCounted, starsCounted)) * pace,
    idleDays: input.idleDays,
    issuesPerDay: openIssuesDelta === null ? null : Math.abs(openIssuesDelta) / days,
    openIssues: input.openIssuesFrom,
  };
}

function scoresOf({ window, usualPerDay, isYoung }: ScoreInput, values: Values): Scores {
  const { gained, pace, usualDay, stars, forks, forksGained } = values;
  const trending = round(gained / (usualDay + USUAL_PRIOR) ** USUAL_POWER);
  const isUsual = usualPerDay === null || pace >= usualPerDay;
  return {
    trending,
    rising: window === "30d" || usualPerDay === null ? null : round(risingOf(gained, pace, usualPerDay)),
    newHot: isYoung === null ? null : isYoung && isUsual ? trending : 0,
    starMomentum: round(gained / Math.sqrt(stars + STARS_PRIOR)),
    forkMomentum:
      forks === null || forksGained === null ? null : round(forksGained / Math.sqrt(forks + FORKS_PRIOR)),
    activity: activityOf(values),
  };
}

/** How many times its usual day a repository gains; 0 where that is nothing unusual. */
function risingOf(gained: number, pace: number, usual: number): number {
  const times = pace / Math.max(1, usual);
  return gained >= LEAST_RISEN && times >= LEAST_TIMES ? times : 0;
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
