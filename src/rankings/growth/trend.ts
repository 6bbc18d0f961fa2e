import { sql } from "kysely";
import { SNAPSHOT_SOURCES, type SnapshotSource } from "../../catalog/catalog.js";
import type { Database, Db, RollupTable } from "../../database/database.js";
import { perWindow, WINDOW_HOURS, type Window, windowOfHours } from "../windows.js";
import type { Anomaly } from "./anomalies.js";
import { addFalls } from "./falls.js";
import { readScoredRows, scoreInput } from "./rollups.js";
import { readScales } from "./scales.js";
import { type Explanation, explain, type Scores } from "./scores.js";

/** Growth between two actual snapshots. Deltas are plain differences. */
export interface Trend {
  window: Window;
  provider: string;
  /** The capture times compared. */
  from: number;
  to: number;
  /** Source of the snapshot at `from`. */
  fromSource: SnapshotSource;
  /** Stars at `from`. */
  starsFrom: number;
  starsDelta: number;
  /** null if either snapshot lacks the count. */
  forksDelta: number | null;
  openIssuesDelta: number | null;
  /** starsDelta ÷ starsFrom (0.02 is 2 %); null if starsFrom is 0. */
  starsGrowth: number | null;
  /** From 0 to 100; null if unknown. */
  scores: Scores;
  /** From 0 to 1. */
  confidence: number;
  reliable: boolean;
  anomalies: Anomaly[];
}

/** The columns of a rollup that make a trend. */
export const TREND_COLUMNS = [
  "repository_id",
  "window_hours",
  "provider",
  "from_at",
  "to_at",
  "stars_delta",
  "forks_delta",
  "open_issues_delta",
  "stars_growth",
  "stars_from",
  "from_source",
  "anomalies",
  "trending",
  "rising",
  "new_hot",
  "star_momentum",
  "fork_momentum",
  "activity",
  "confidence",
  "reliable",
] as const satisfies readonly (keyof RollupTable)[];

export type TrendRow = Pick<RollupTable, (typeof TREND_COLUMNS)[number]>;

/** The trends of repositories in one window, by id. Repositories without one are absent. */
export async function readTrends(
  { read, dialect }: Database,
  ids: readonly number[],
  window: Window,
): Promise<Map<number, Trend>> {
  if (ids.length === 0) return new Map();
  const rows = await read
    .selectFrom("rollups")
    .selectAll()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .where("window_hours", "=", WINDOW_HOURS[window])
    .execute();
  const trends = await trendsOfRollups(read, rows);
  return new Map(trends.map((trend, i) => [rows[i]?.repository_id ?? 0, trend]));
}

/** The trends of one repository; null for a window without two snapshots to compare. */
export async function readTrendsOf(db: Db, id: number): Promise<Record<Window, Trend | null>> {
  const rows = await db.selectFrom("rollups").selectAll().where("repository_id", "=", id).execute();
  const trends = await trendsOfRollups(db, rows);
  return perWindow((window) => trends.find((trend) => trend.window === window) ?? null);
}

/** The terms of a repository's scores; null for a window without a trend. */
export async function readExplanations(db: Db, id: number): Promise<Record<Window, Explanation | null>> {
  const rows = await readScoredRows(db, id);
  const scales = await readScales(db);
  return perWindow((window) => {
    const row = rows.find((candidate) => candidate.window_hours === WINDOW_HOURS[window]);
    return row === undefined ? null : explain(scoreInput(row, scales));
  });
}

/** The trends of stored rollups, in their order. Reads `fall_days` only if one of them holds a purge. */
export async function trendsOfRollups(db: Db, rows: readonly TrendRow[]): Promise<Trend[]> {
  const trends = rows.map(trendOf);
  if (trends.some(({ anomalies }) => anomalies.some(({ kind }) => kind === "PURGE")))
    await addFalls(db, trends);
  return trends;
}

function trendOf(row: TrendRow): Trend {
  const hundredths = (value: number | null) => (value === null ? null : value / 100);
  return {
    window: windowOfHours(row.window_hours) ?? "24h",
    provider: row.provider,
    from: row.from_at,
    to: row.to_at,
    fromSource: SNAPSHOT_SOURCES[row.from_source] ?? "OBSERVED",
    starsFrom: row.stars_from,
    starsDelta: row.stars_delta,
    forksDelta: row.forks_delta,
    openIssuesDelta: row.open_issues_delta,
    starsGrowth: row.stars_growth,
    scores: {
      trending: hundredths(row.trending),
      rising: hundredths(row.rising),
      newHot: hundredths(row.new_hot),
      starMomentum: hundredths(row.star_momentum),
      forkMomentum: hundredths(row.fork_momentum),
      activity: hundredths(row.activity),
    },
    confidence: row.confidence / 100,
    reliable: row.reliable === 1,
    anomalies: row.anomalies === null ? [] : JSON.parse(row.anomalies),
  };
}
