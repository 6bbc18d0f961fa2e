import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Renames are those that an operator states: suspected ones are two repositories again, accepted ones stay joined. */
export const manualRenames: Migration = {
  name: "manual-renames",
  async up(tx, { types: { integer, text } }) {
    const suspected = sql`select from_id from renames where status = 'SUSPECTED'`;
    const statements = [
      // Their growth and words are computed again, and those of the names that seemed to continue them.
      ...["rollups", "words"].map(
        (kind) => sql`insert into outdated (kind, repository_id)
          select ${kind}, from_id from renames where status = 'SUSPECTED'
          union select ${kind}, to_id from renames where status = 'SUSPECTED' on conflict do nothing`,
      ),
      sql`update repositories set availability = 'AVAILABLE'
        where availability = 'RENAMED' and id in (${suspected})`,
      sql`create table stated_renames (
        from_id ${integer} not null primary key references repositories (id),
        to_id ${integer} not null references repositories (id),
        availability ${text} not null, -- what from_id had before
        discovered_at ${integer} not null, -- what to_id had before
        both_at ${text} not null -- JSON array of the times at which both had a snapshot
      )`,
      sql`insert into stated_renames (from_id, to_id, availability, discovered_at, both_at)
        select from_id, to_id, 'AVAILABLE', joined_before, '[]' from renames where status = 'ACCEPTED'`,
      sql`drop table renames`,
      sql`alter table stated_renames rename to renames`,
      sql`drop index repositories_import_first`,
      sql`delete from marks where name like 'renames_detected_%'`,
      sql`alter table rollups drop column predecessor_id`,
      sql`update revision set value = value + 1 where id = 1`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
