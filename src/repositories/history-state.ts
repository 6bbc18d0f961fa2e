/** The state of the star history of a repository: how much of it was read from its forge, and why not more. */
import { sql } from "kysely";
import { z } from "zod";
import type { Db, Dialect } from "../database/database.js";

/**
 * `NOT_OFFERED`: there is none to read, as its forge has none, or it is not tracked. `WAITING`: nothing is read yet. `READING`: a part is
 * read, newest first. `WHOLE`: all of it is. `REFUSED`: the forge has not given the next part of it, which is requested again.
 */
export const HISTORY_STATES = ["NOT_OFFERED", "WAITING", "READING", "WHOLE", "REFUSED"] as const;
export type HistoryStateName = (typeof HISTORY_STATES)[number];

/** Why a forge has not given a history. `NONE`: it gives none of this repository. `NOT_READY`: it has not prepared it yet. */
export const HISTORY_REFUSALS = ["NONE", "NOT_READY", "UNUSABLE", "FORBIDDEN", "UNREACHABLE"] as const;
export type HistoryRefusal = (typeof HISTORY_REFUSALS)[number];

/** Times in ms since 1970. */
export interface HistoryState {
  state: HistoryStateName;
  /** The oldest day that was read, if older ones are missing; null: nothing was read, or nothing is missing. */
  readTo: number | null;
  /** Why it was refused; null: it was not, or an earlier version has not stored it. */
  why: HistoryRefusal | null;
  /** When the next part is requested at the earliest, if that is planned. */
  nextAt: number | null;
}

const NOT_OFFERED: HistoryState = { state: "NOT_OFFERED", readTo: null, why: null, nextAt: null };

export const historyCursorSchema = z.object({
  next: z.string(),
  /** The oldest day read so far, and the stars at the end of the day before it. */
  day: z.int(),
  stars: z.int(),
});
export type HistoryCursor = z.infer<typeof historyCursorSchema>;

/** Next to the cursor, or without one before the first page: how often the next page has failed in a row, and why it did last. */
const failuresSchema = z.object({
  failures: z.int().default(0),
  why: z.enum(HISTORY_REFUSALS).nullable().default(null),
});

const parsed = (text: string | null): unknown => JSON.parse(text || "{}");

/** The position in a history; undefined before the first page, and after the last. */
export const cursorOf = (text: string | null): HistoryCursor | undefined =>
  historyCursorSchema.safeParse(parsed(text)).data;

export const failuresOf = (text: string | null): z.infer<typeof failuresSchema> =>
  failuresSchema.parse(parsed(text));

export const failedCursor = (text: string | null, why: HistoryRefusal): string =>
  JSON.stringify({ ...cursorOf(text), failures: failuresOf(text).failures + 1, why });

/** The state that the columns `history_cursor` and `history_due` store. `historyCounts` counts by the same rules. */
export function historyStateOf(cursor: string | null, due: number | null): HistoryState {
  if (due === null) return cursor === null ? NOT_OFFERED : { ...NOT_OFFERED, state: "WHOLE" };
  const readTo = cursorOf(cursor)?.day ?? null;
  const { failures, why } = failuresOf(cursor);
  // Of an instance that has no histories, each is refused.
  if (why === "NONE" && readTo === null) return NOT_OFFERED;
  const state = failures > 0 ? "REFUSED" : readTo === null ? "WAITING" : "READING";
  return { state, readTo, why, nextAt: due };
}

/** Whether a history is not whole that its forge may have. */
export const isHistoryMissing = ({ state }: HistoryState): boolean =>
  state !== "NOT_OFFERED" && state !== "WHOLE";

/** Whether nothing was read of a history that its forge may have. */
export const isHistoryUnread = (history: HistoryState): boolean =>
  isHistoryMissing(history) && history.readTo === null;

/** The states of repositories; without those that are not tracked. Costs one statement. */
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
  return new Map(rows.map((row) => [row.repository_id, historyStateOf(row.history_cursor, row.history_due)]));
}

/** How many repositories of a provider have each state. Reads the rows of all that are tracked. */
export async function historyCounts(db: Db, provider: string): Promise<Record<HistoryStateName, number>> {
  const has = (text: string) => sql`history_cursor like ${`%${text}%`}`;
  const { rows } = await sql<{
    state: HistoryStateName;
    total: number;
  }>`select state, count(*) as total from (
    select case
      when history_due is null then case when history_cursor is null then 'NOT_OFFERED' else 'WHOLE' end
      when history_cursor is null then 'WAITING'
      when ${has('"why":"NONE"')} and not ${has('"next":')} then 'NOT_OFFERED'
      when ${has('"failures":')} then 'REFUSED'
      when ${has('"next":')} then 'READING'
      else 'WAITING' end as state
    from tracking where provider = ${provider}) as states group by state`.execute(db);
  const counts = new Map(rows.map(({ state, total }) => [state, Number(total)]));
  return Object.fromEntries(HISTORY_STATES.map((state) => [state, counts.get(state) ?? 0])) as Record<
    HistoryStateName,
    number
  >;
}
