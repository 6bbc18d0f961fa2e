import { sql } from "kysely";
import { type BulkRow, bulkOf, type Db, type Dialect, type RollupTable } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { type Availability, SNAPSHOT_SOURCES } from "../repositories/repositories.js";
import { difference, isDoubtful } from "./anomalies.js";
import { confidence, RELIABLE_FROM } from "./confidence.js";
import { WINDOW_HOURS, type Window, windowMs, windowOfHours } from "./definitions.js";
import type { Growth } from "./gains.js";
import type { History } from "./history.js";
import { type ScoreInput, score } from "./scores.js";

/** The table `rollups` with all its columns. */
export const ROLLUPS = bulkOf("rollups");

/** The row of one window. */
export function rollupRow(history: History, growth: Growth): BulkRow {
  const { window, from, to, starsDelta, held, snapshots, starsCounted, anomalies } = growth;
  const trust = confidence({
    window,
    coveredHours: (to.at - from.at) / HOUR_MS,
    snapshots,
    availability: history.availability,
    unseenHours: growth.unseenMs / HOUR_MS,
    isYounger: isYounger(history, growth),
    hasDoubtfulReading: anomalies.some(isDoubtful),
    hasUsualDay: growth.usualPerDay !== null,
  });
  const { trending, rising, newHot } = score(inputOf(history, growth));
  // Written out, as a rebuild makes millions of rows.
  return [
    history.repositoryId,
    WINDOW_HOURS[window],
    history.provider,
    from.at,
    to.at,
    starsDelta,
    difference(to.forks, from.forks),
    difference(to.openIssues, from.openIssues),
    starsCounted,
    null,
    from.stars > 0 ? starsDelta / from.stars : null,
    from.stars,
    SNAPSHOT_SOURCES.indexOf(from.source),
    growth.firstSeenAt,
    snapshots,
    anomalies.length === 0 ? null : JSON.stringify(anomalies),
    anomalies.length > 0 ? 1 : 0,
    hundredths(trending),
    hundredths(rising),
    hundredths(newHot),
    Math.round(trust * 100),
    trust >= RELIABLE_FROM ? 1 : 0,
    hundredths(growth.usualPerDay),
    held?.until ?? null,
    held?.starsDelta ?? null,
    null,
    growth.days?.join() ?? null,
  ];
}

/** Scores, and gains of a usual day, as they are stored. */
function hundredths(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100);
}

/** The parts of a growth that scores depend on. */
interface ScoredGrowth extends Pick<Growth, "window" | "starsCounted" | "usualPerDay" | "firstSeenAt"> {
  from: { at: number };
  to: { at: number };
}

function inputOf(
  history: Pick<History, "createdAt" | "isContinued">,
  { window, from, to, starsCounted, usualPerDay, firstSeenAt }: ScoredGrowth,
): ScoreInput {
  const windowHours = WINDOW_HOURS[window];
  const { createdAt, isContinued } = history;
  const seemsYoung = firstSeenAt === null ? null : true;
  const isYoung = createdAt === null ? seemsYoung : to.at - createdAt < YOUNG_MS;
  return {
    window,
    windowHours,
    // Before its creation there was nothing to gain, so such a gain is not scaled.
    coveredHours: isYounger(history, { window, from, to }) ? windowHours : (to.at - from.at) / HOUR_MS,
    starsCounted,
    usualPerDay,
    isYoung: isContinued ? null : isYoung,
  };
}

/** What a repository has gained in a window, between readings at two times in ms since 1970. */
export interface Gain {
  windowHours: number;
  from: number;
  to: number;
  starsDelta: number;
  /** null: not known. */
  forksDelta: number | null;
}

/** The gains of repositories by id, of shorter windows first. */
export async function readGains(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, Gain[]>> {
  const { rows } = await sql<
    Pick<RollupTable, "repository_id" | "window_hours" | "from_at" | "to_at" | "stars_delta" | "forks_delta">
  >`select repository_id, window_hours, from_at, to_at, stars_delta, forks_delta from rollups
    where ${dialect.among(sql.ref("repository_id"), ids)} order by window_hours`.execute(db);
  const gains = new Map<number, Gain[]>();
  for (const row of rows) {
    const { window_hours: windowHours, from_at: from, to_at: to } = row;
    const gain = { windowHours, from, to, starsDelta: row.stars_delta, forksDelta: row.forks_delta };
    gains.set(row.repository_id, [...(gains.get(row.repository_id) ?? []), gain]);
  }
  return gains;
}

/** A repository is young for this long after its creation. */
const YOUNG_MS = 90 * DAY_MS;

/** Whether a repository is younger than a window, which therefore begins with its creation. */
const isYounger = (
  { createdAt }: Pick<History, "createdAt">,
  { window, from, to }: { window: Window; from: { at: number }; to: { at: number } },
): boolean => from.at === createdAt && to.at - from.at < windowMs(window);

/** A rollup with the facts of its repository that scores depend on. */
export type ScoredRow = RollupTable & {
  created_at: number | null;
  availability: Availability;
};

/** The score input of a stored rollup, as it was when the rollup was computed. */
export function scoreInput(row: ScoredRow): ScoreInput {
  return inputOf(
    // Only one of unknown youth has no such score.
    { createdAt: row.created_at, isContinued: row.new_hot === null },
    {
      window: windowOfHours(row.window_hours) ?? "24h",
      from: { at: row.from_at },
      to: { at: row.to_at },
      starsCounted: row.stars_counted,
      usualPerDay: row.stars_usual === null ? null : row.stars_usual / 100,
      firstSeenAt: row.first_seen_at,
    },
  );
}

export async function readScoredRows(db: Db, id: number): Promise<ScoredRow[]> {
  const { rows } = await sql<ScoredRow>`select g.*, r.created_at, r.availability from rollups g
    join repositories r on r.id = g.repository_id where g.repository_id = ${id}`.execute(db);
  return rows;
}
