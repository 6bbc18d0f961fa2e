import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/database.js";
import { EXACT_TOTAL } from "../spec.js";

/** The ids of repositories with one of these topics; undefined if there are more than EXACT_TOTAL. */
export async function idsWithTopics(
  { dialect, read }: Database,
  topics: readonly string[],
): Promise<number[] | undefined> {
  const tagged = sql`select repository_id as id from repository_topics where topic in (${sql.join(topics)})
    limit ${EXACT_TOTAL + 1}`;
  const ids = await idsOf({ dialect, read }, tagged);
  return ids.length > EXACT_TOTAL ? undefined : ids;
}

/** The ids that a select finds, as one row: that is cheaper to read than thousands. */
async function idsOf(
  { dialect, read }: Pick<Database, "dialect" | "read">,
  select: RawBuilder<unknown>,
): Promise<number[]> {
  const result = await sql<{
    ids: string;
  }>`select ${dialect.jsonArray(sql`id`)} as ids from (${select}) as found`.execute(read);
  return JSON.parse(result.rows[0]?.ids ?? "[]");
}
