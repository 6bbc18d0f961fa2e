import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";

/** How far a star history was read, newest first. NONE: its forge has or gives none, or it is not tracked. */
export const HISTORY_STATES = ["NONE", "UNREAD", "PART", "WHOLE"] as const;
export type HistoryState = (typeof HISTORY_STATES)[number];

/** How far the star histories of repositories were read; without those that are not tracked. */
export async function readHistoryStates(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, HistoryState>> {
  const rows = await db
    .selectFrom("tracking")
    .select(["repository_id", "history_cursor", "history_due"])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  return new Map(rows.map((row) => [row.repository_id, stateOf(row.history_cursor, row.history_due)]));
}

function stateOf(cursor: string | null, due: number | null): HistoryState {
  if (cursor === null) return due === null ? "NONE" : "UNREAD";
  if (due === null) return "WHOLE";
  // Otherwise it has only failed so far.
  return "next" in JSON.parse(cursor || "{}") ? "PART" : "NONE";
}
