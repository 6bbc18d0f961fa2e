import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** The log of changes is read in parts by callers, who learn which repositories were renamed. */
export const changeLog: Migration = {
  name: "change-log",
  async up(tx, { types: { integer } }) {
    const statements = [
      // The revision of the rename; 0: it was before this column.
      sql`alter table previous_names add column revision ${integer} not null default 0`,
      sql`drop index changes_revision`,
      sql`create index changes_revision on changes (revision, repository_id)`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
