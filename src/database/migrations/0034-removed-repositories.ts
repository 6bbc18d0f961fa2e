import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** The log of changes names new and deleted repositories. */
export const removedRepositories: Migration = {
  name: "removed repositories",
  async up(tx, { types: { integer } }) {
    const statements = [
      sql`alter table changes add column added ${integer} not null default 0`, // revision of its first change; 0: unknown
      sql`alter table changes add column removed_at ${integer}`, // ms since 1970; null: it was not deleted
      sql`create index changes_removed on changes (removed_at) where removed_at is not null`,
      // Ids of -1 and below meant the growth of all.
      sql`delete from changes where repository_id < 0`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
