import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Database } from "../database/database.js";
import { removeOldLists } from "./lists.js";

/** How long finished requests are kept, and open ones that no worker works off. */
const KEPT_MS = 7 * DAY_MS;
const REMOVED_TOGETHER = 1_000;

/**
 * Removes requests that finished a week ago, and gives up those that nobody has worked off in that time. Of those that are
 * recorded, the backfill reads what is left of the history.
 */
export async function removeOldRequests({ write }: Database, now: number): Promise<void> {
  await removeOldLists({ write }, now - KEPT_MS);
  await sql`update track_requests set finished_at = ${now},
      failure = case when repository_id is null then 'unreachable' end
    where finished_at is null and requested_at < ${now - KEPT_MS}`.execute(write);
  for (let removed = REMOVED_TOGETHER; removed === REMOVED_TOGETHER; ) {
    const result = await sql`delete from track_requests where id in (
      select id from track_requests where finished_at < ${now - KEPT_MS} limit ${REMOVED_TOGETHER})`.execute(
      write,
    );
    removed = Number(result.numAffectedRows ?? 0n);
  }
}
