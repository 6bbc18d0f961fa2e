/** What growth is measured and ranked by: windows, scores, rankings, and the orders of lists. Declared once, as data. */
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

/** A record with one value per window. */
export function perWindow<T>(value: (window: Window) => T): Record<Window, T> {
  return { "24h": value("24h"), "7d": value("7d"), "30d": value("30d") };
}

/** Bumped whenever a formula or constant of the scores changes, so that scores of two versions are never compared. */
export const SCORE_VERSION = 2;

export const SCORE_NAMES = [
  "trending",
  "rising",
  "newHot",
  "starMomentum",
  "forkMomentum",
  "activity",
] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

/** The scores as people read them. */
export const SCORE_LABELS: Readonly<Record<ScoreName, { label: string; description: string }>> = {
  trending: { label: "Trending", description: "broad recent momentum" },
  rising: { label: "Rising", description: "growth for its size" },
  newHot: { label: "New and hot", description: "early momentum of a young repository" },
  starMomentum: { label: "Star momentum", description: "stars gained for its size" },
  forkMomentum: { label: "Fork momentum", description: "forks gained for its size" },
  activity: { label: "Activity", description: "recent pushes and issues" },
};

/** The rankings. These names are the same in paths, parameters, responses and the addresses of pages. */
export const RANKINGS = [
  "trending",
  "rising",
  "new-hot",
  "fork-growth",
  "stars-gained",
  "forks-gained",
  "stars",
] as const;
export type Ranking = (typeof RANKINGS)[number];

/** How a ranking is named and described wherever people read it. */
export interface RankingDefinition {
  label: string;
  description: string;
  /** After a rank: "#3 trending", "#3 by stars". */
  phrase: string;
  /** Title of the list in the middle of a sentence. */
  title: string;
  /** Whether it has a feed, at `/api/feeds/<name>.atom`. */
  hasFeed: boolean;
  /** Its name in stored rank histories; never changes. */
  code: string;
  /** The score it sorts by; null for counts. */
  score: ScoreName | null;
}

export const RANKING_DEFINITIONS = {
  trending: {
    label: "Trending",
    description: "Broad recent momentum",
    phrase: "trending",
    title: "trending repositories",
    hasFeed: true,
    code: "t",
    score: "trending",
  },
  rising: {
    label: "Rising",
    description: "Fast growth for their size",
    phrase: "rising",
    title: "rising repositories",
    hasFeed: true,
    code: "r",
    score: "rising",
  },
  "new-hot": {
    label: "New and hot",
    description: "Younger than 90 days",
    phrase: "new & hot",
    title: "new and hot repositories",
    hasFeed: true,
    code: "n",
    score: "newHot",
  },
  "fork-growth": {
    label: "Fork growth",
    description: "Fast growth in forks for their size",
    phrase: "by fork growth",
    title: "repositories with growing forks",
    hasFeed: true,
    code: "k",
    score: "forkMomentum",
  },
  "stars-gained": {
    label: "Stars gained",
    description: "Most stars gained",
    phrase: "by stars gained",
    title: "most stars gained",
    hasFeed: false,
    code: "g",
    score: null,
  },
  "forks-gained": {
    label: "Forks gained",
    description: "Most forks gained",
    phrase: "by forks gained",
    title: "most forks gained",
    hasFeed: false,
    code: "f",
    score: null,
  },
  stars: {
    label: "Stars",
    description: "Most stars",
    phrase: "by stars",
    title: "repositories with most stars",
    hasFeed: true,
    code: "s",
    score: null,
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

/** Sort orders of lists by growth or by a score. */
export const GROWTH_ORDERS = [
  "trending",
  "rising",
  "new-hot",
  "fork-growth",
  "activity",
  "stars-gained",
  "forks-gained",
  "stars-delta",
  "forks-delta",
] as const;
export type GrowthOrder = (typeof GROWTH_ORDERS)[number];

/** Where a growth order is stored, for the module that turns lists into SQL. */
export interface GrowthOrderColumn {
  /** Column of `rollups` that holds the sort key. One row per repository and window (`window_hours`). */
  column:
    | "stars_counted"
    | "forks_counted"
    | "stars_delta"
    | "forks_delta"
    | "trending"
    | "rising"
    | "new_hot"
    | "fork_momentum"
    | "activity";
  /**
   * Whether the list holds rows with a value above 0 only (scores and plain differences; a partial index covers exactly
   * these rows) or every row with a known value (gains that count, which may be negative).
   */
  positiveOnly: boolean;
}

export const GROWTH_ORDER_COLUMNS: Readonly<Record<GrowthOrder, GrowthOrderColumn>> = {
  "stars-gained": { column: "stars_counted", positiveOnly: false },
  "forks-gained": { column: "forks_counted", positiveOnly: false },
  trending: { column: "trending", positiveOnly: true },
  rising: { column: "rising", positiveOnly: true },
  "new-hot": { column: "new_hot", positiveOnly: true },
  "fork-growth": { column: "fork_momentum", positiveOnly: true },
  activity: { column: "activity", positiveOnly: true },
  "stars-delta": { column: "stars_delta", positiveOnly: true },
  "forks-delta": { column: "forks_delta", positiveOnly: true },
};
