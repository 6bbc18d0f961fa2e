import { sql } from "kysely";
import type { Database } from "../database/database.js";

/**
 * Which of two snapshots is compared with the newest one, taken at `to`: the one nearer to `to - lengthMs`, the earlier when
 * both are equally near. Only snapshots 0.5 to 2 windows before `to` qualify; undefined when neither does.
 * `before` is the last snapshot at or before `to - lengthMs`, `after` the first one later than that.
 */
export function chooseFrom(
  to: number,
  lengthMs: number,
  before: number | null,
  after: number | null,
): number | undefined {
  const target = to - lengthMs;
  const early = before !== null && to - before <= 2 * lengthMs ? before : undefined;
  const late = after !== null && to - after >= lengthMs / 2 ? after : undefined;
  if (early === undefined || late === undefined) return early ?? late;
  return target - early <= late - target ? early : late;
}

/** Times of snapshots; null: no such snapshot. */
interface Candidates {
  newest: number | null;
  /** Around `newest - lengthMs`. */
  before: number | null;
  after: number | null;
  /** Around the start of the window. */
  last: number | null;
  first: number | null;
}

/**
 * The time of the snapshot at which the series of a window begins, for a window of `lengthMs` that ends at `asOf`: the one a
 * trend of this length starts at, so that series and trend show the same gain. Without a trend, the last snapshot at or before
 * the start of the window, else the first one in it. Undefined when the window has no snapshot. Costs five steps along an index.
 */
export async function readSeriesStart(
  { read }: Database,
  repositoryId: number,
  asOf: number,
  lengthMs: number,
): Promise<number | undefined> {
  const start = asOf - lengthMs;
  const { rows } = await sql<Candidates>`
    with n as (select max(captured_at) as newest from snapshots where repository_id = ${repositoryId})
    select newest,
      (select max(captured_at) from snapshots where repository_id = ${repositoryId}
        and captured_at <= newest - ${sql.lit(lengthMs)}) as before,
      (select min(captured_at) from snapshots where repository_id = ${repositoryId}
        and captured_at > newest - ${sql.lit(lengthMs)}) as after,
      (select max(captured_at) from snapshots where repository_id = ${repositoryId} and captured_at <= ${start}) as last,
      (select min(captured_at) from snapshots where repository_id = ${repositoryId} and captured_at > ${start}) as first
    from n`.execute(read);
  const { newest = null, before = null, after = null, last = null, first = null } = rows[0] ?? {};
  if (newest === null || newest < start) return undefined;
  const from = chooseFrom(newest, lengthMs, before, after);
  return from === undefined || from === newest ? (last ?? first ?? undefined) : from;
}
