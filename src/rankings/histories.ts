import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Dialect, Tx } from "../database/database.js";
import { type Anomaly, findAnomalies, MIN_MOVEMENT, type Reading } from "./anomalies.js";

/** Days before the newest snapshot that are looked at: twice the longest window, as that may be compared. */
const HISTORY_DAYS = 60;

/** The recent past of one repository, as far as its rollups need it. */
export interface History {
  anomalies: Anomaly[];
  /** Snapshots from a time on. */
  countSince(from: number): number;
}

interface ReadingRow {
  repository_id: number;
  captured_at: number;
  stars: number;
  forks: number | null;
  open_issues: number | null;
}

/** The recent snapshots of the repositories, and what is strange in them. */
export async function readHistories(
  tx: Tx,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, History>> {
  const rows = await sql<ReadingRow>`
    with n as materialized (
      select repository_id, max(captured_at) as to_at from snapshots
      where ${dialect.among(sql.ref("repository_id"), ids)} group by repository_id)
    select s.repository_id, s.captured_at, s.stars, s.forks, s.open_issues
    from n join snapshots s on s.repository_id = n.repository_id
      and s.captured_at >= n.to_at - ${sql.lit(HISTORY_DAYS * DAY_MS)}
    order by s.repository_id, s.captured_at`.execute(tx);
  const pushes = await tx
    .selectFrom("repositories")
    .select(["id", "pushed_at"])
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  const pushedAt = new Map(pushes.map((row) => [row.id, row.pushed_at]));
  const histories = new Map<number, History>();
  for (const [id, own] of Map.groupBy(rows.rows, (row) => row.repository_id)) {
    const readings = own.map(
      (row): Reading => ({
        at: row.captured_at,
        stars: row.stars,
        forks: row.forks,
        openIssues: row.open_issues,
      }),
    );
    histories.set(id, {
      anomalies: moves(readings) ? findAnomalies(readings, pushedAt.get(id) ?? null) : [],
      countSince: (from) => readings.filter((reading) => reading.at >= from).length,
    });
  }
  return histories;
}

/** Whether anything moves enough to be looked at; most repositories do not. */
function moves(readings: readonly Reading[]): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const { stars } of readings) {
    least = Math.min(least, stars);
    most = Math.max(most, stars);
  }
  return most - least >= Math.min(MIN_MOVEMENT, most / 2) && most - least > 0;
}
