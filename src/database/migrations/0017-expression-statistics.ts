import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** What lists filter by, as their statements and the indexes have it. */
const FILTERED = {
  stars: "coalesce(stars, -1)",
  forks: "coalesce(forks, -1)",
  pushed_at: "coalesce(pushed_at, -1)",
  created_at: "coalesce(created_at, -1)",
  archived: "coalesce(archived, 0)",
  fork: "coalesce(fork, 0)",
} as const;

/** The first version of PostgreSQL that has statistics of expressions. */
const FIRST_WITH_THEM = 140_000;

/**
 * Statistics of expressions. PostgreSQL does not use those of partial indexes, and took filters by stars or dates for so selective that
 * it read and sorted all repositories, for ten seconds with a million of them, where an index has a list in order.
 */
export const expressionStatistics: Migration = {
  name: "expression-statistics",
  async up(tx, { engine }) {
    if (engine === "sqlite") return;
    const { rows } = await sql<{ version: number }>`
      select cast(current_setting('server_version_num') as integer) as version`.execute(tx);
    if ((rows[0]?.version ?? 0) < FIRST_WITH_THEM) return;
    for (const [name, expression] of Object.entries(FILTERED))
      await sql`create statistics ${sql.raw(`repositories_${name}_value`)} on (${sql.raw(expression)})
        from repositories`.execute(tx);
    await sql`analyze repositories`.execute(tx);
  },
};
