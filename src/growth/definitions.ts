/** The definitions of growth: windows, scores, rankings, and the orders of lists. Declared once, as data. */
import { HOUR_MS } from "../lib/clock.js";

/** The windows over which growth is measured. */
export const WINDOWS = ["24h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];

/** Length in hours, as stored in `window_hours`. */
export const WINDOW_HOURS: Readonly<Record<Window, number>> = { "24h": 24, "7d": 168, "30d": 720 };

/** Names of the windows in English. */
export const WINDOW_LABELS: Readonly<Record<Window, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
};

/** The same for narrow columns. */
export const WINDOW_SHORT_LABELS: Readonly<Record<Window, string>> = {
  "24h": "24 h",
  "7d": "7 d",
  "30d": "30 d",
};

/** The window with this length in hours; undefined if no window has it. */
export function windowOfHours(hours: number): Window | undefined {
  return WINDOWS.find((window) => WINDOW_HOURS[window] === hours);
}

export function windowMs(window: Window): number {
  return WINDOW_HOURS[window] * HOUR_MS;
}

/**
 * When a window can have growth at the earliest, in ms since 1970: a count from then on is compared with the first snapshot, which may
 * be half a window off.
 */
export function growthFrom(window: Window, firstSnapshotAt: number): number {
  return firstSnapshotAt + windowMs(window) / 2;
}

/** A record with one value per window. */
export function perWindow<T>(value: (window: Window) => T): Record<Window, T> {
  return { "24h": value("24h"), "7d": value("7d"), "30d": value("30d") };
}

/** Bumped whenever a formula or constant of the scores changes, so that scores of two versions are never compared. */
export const SCORE_VERSION = 4;

export const SCORE_NAMES = ["trending", "rising", "newHot"] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

/** The scores as people read them. */
export const SCORE_LABELS: Readonly<Record<ScoreName, { label: string; description: string }>> = {
  trending: { label: "Trending", description: "stars gained for its usual day" },
  rising: { label: "Rising", description: "times its usual day" },
  newHot: { label: "New and hot", description: "stars gained for its usual day, while it is young" },
};

/** The orders that repositories have ranks in. These names are the same in paths, parameters, responses and the addresses of pages. */
export const RANKINGS = ["trending", "new-hot", "stars-gained", "forks-gained", "stars"] as const;
export type Ranking = (typeof RANKINGS)[number];

/** How a ranking is named wherever people read it. */
interface RankingDefinition {
  label: string;
  /** After a rank: "#3 trending", "#3 by stars". */
  phrase: string;
  /** Its name in stored rank histories; never changes. `r` was that of rising, which has no ranks anymore. */
  code: string;
}

export const RANKING_DEFINITIONS = {
  trending: {
    label: "Trending",
    phrase: "trending",
    code: "t",
  },
  "new-hot": {
    label: "New and hot",
    phrase: "new & hot",
    code: "n",
  },
  "stars-gained": {
    label: "Stars gained",
    phrase: "by stars gained",
    code: "g",
  },
  "forks-gained": {
    label: "Forks gained",
    phrase: "by forks gained",
    code: "f",
  },
  stars: {
    label: "Stars",
    phrase: "by stars",
    code: "s",
  },
} as const satisfies Readonly<Record<Ranking, RankingDefinition>>;

/** A ranking in one window; the ranking by stars has no window. Repositories have one value per measure. */
export interface Measure {
  ranking: Ranking;
  window: Window | null;
}

/** All measures, in a fixed order. */
export const MEASURES: readonly Measure[] = RANKINGS.flatMap((ranking): Measure[] =>
  ranking === "stars" ? [{ ranking, window: null }] : WINDOWS.map((window) => ({ ranking, window })),
);

/** The column of a sort order of lists by growth or by a score. */
interface GrowthOrderColumn {
  /** Column of `rollups` that holds the sort key. One row per repository and window (`window_hours`). */
  column: string;
  /** Whether it is a gain, which may be negative; otherwise a score. */
  isGain: boolean;
  /** Whether the list holds only rows with a value above 0, or every row with a known value. */
  positiveOnly: boolean;
}

/** The windows that have a list of what is rising. */
export const RISING_WINDOWS: readonly Window[] = ["24h", "7d"];

/** The sort orders of lists by growth or by a score. */
export const GROWTH_ORDER_COLUMNS = {
  trending: { column: "trending", isGain: false, positiveOnly: true },
  rising: { column: "rising", isGain: false, positiveOnly: true },
  "new-hot": { column: "new_hot", isGain: false, positiveOnly: true },
  "stars-gained": { column: "stars_counted", isGain: true, positiveOnly: false },
  "forks-gained": { column: "forks_delta", isGain: true, positiveOnly: false },
  "stars-delta": { column: "stars_delta", isGain: true, positiveOnly: true },
} as const satisfies Readonly<Record<string, GrowthOrderColumn>>;
export type GrowthOrder = keyof typeof GROWTH_ORDER_COLUMNS;
export const GROWTH_ORDERS = Object.keys(GROWTH_ORDER_COLUMNS) as GrowthOrder[];
