import { RISING_WINDOWS, type ScoreName, type Window } from "./definitions.js";

/** At least 0, with two decimals; null if too little is known to compute a score. */
export type Scores = Record<ScoreName, number | null>;

/** Everything the scores of one repository in one window depend on. */
export interface ScoreInput {
  window: Window;
  windowHours: number;
  /** Hours between the two snapshots compared. */
  coveredHours: number;
  /** The part of the gain that counts. */
  starsCounted: number;
  /** Stars gained on a usual day before; null: unknown. */
  usualPerDay: number | null;
  /** Whether it is young at the end of the window; null: its age is unknown, or it continues another name or may do so. */
  isYoung: boolean | null;
}

/** The numbers that the formulas use. */
interface Values {
  /** The stars that count, scaled to the length of the window. */
  gained: number;
  /** Stars gained a day. */
  pace: number;
  /** Stars on a usual day; if unknown, the pace of the window, which is neither a surprise nor a shame. */
  usualDay: number;
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
/** A rising repository gained at least this many stars, and this many times as many as on usual days. Fewer than one a day count as one. */
const LEAST_RISEN = 100;
const LEAST_TIMES = 2;

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
      RISING_WINDOWS.includes(window)
        ? `stars a day ÷ usual day, from ${LEAST_RISEN} stars and ${LEAST_TIMES} times the usual day on`
        : `not for ${window}`,
    uses: ["gained", "pace", "usualDay"],
  },
  newHot: {
    text: () =>
      `gained ÷ (usual day + ${USUAL_PRIOR})^${USUAL_POWER}, of what is young and gains its usual day`,
    uses: ["gained", "pace", "usualDay"],
  },
};

/** The formula of a score in a window. */
export function formulaOf(name: ScoreName, window: Window): string {
  return FORMULAS[name].text(window);
}

/** The scores. Pure: the same input gives the same scores everywhere. */
export function score(input: ScoreInput): Scores {
  return scoresOf(input, valuesOf(input));
}

/** The scores with their formulas and values. */
export function explain(input: ScoreInput): Explanation {
  const values = valuesOf(input);
  const scores = scoresOf(input, values);
  const explained = Object.entries(FORMULAS).map(([name, { text, uses }]): [string, ExplainedScore] => {
    const known = uses.map((use) => [use, values[use]] as const);
    const formula = text(input.window);
    return [name, { score: scores[name as ScoreName], formula, values: Object.fromEntries(known) }];
  });
  return Object.fromEntries(explained) as Explanation;
}

function valuesOf({ windowHours, coveredHours, starsCounted, usualPerDay }: ScoreInput): Values {
  const gained = (Math.max(0, starsCounted) * windowHours) / coveredHours;
  const pace = (24 * gained) / windowHours;
  return { gained, pace, usualDay: usualPerDay ?? pace };
}

function scoresOf({ window, usualPerDay, isYoung }: ScoreInput, { gained, pace, usualDay }: Values): Scores {
  const trending = round(gained / (usualDay + USUAL_PRIOR) ** USUAL_POWER);
  const isUsual = usualPerDay === null || pace >= usualPerDay;
  const isRisingKnown = usualPerDay !== null && RISING_WINDOWS.includes(window);
  return {
    trending,
    rising: isRisingKnown ? round(risingOf(gained, pace, usualPerDay)) : null,
    newHot: isYoung === null ? null : isYoung && isUsual ? trending : 0,
  };
}

/** How many times its usual day a repository gains; 0 where that is nothing unusual. */
function risingOf(gained: number, pace: number, usual: number): number {
  const times = pace / Math.max(1, usual);
  return gained >= LEAST_RISEN && times >= LEAST_TIMES ? times : 0;
}

/** To two decimals, as scores are stored, so that stored and computed scores are equal. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
