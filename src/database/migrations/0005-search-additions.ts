import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * What a rebuild of the search index has written no longer changes: repositories that change later are added beside it. The
 * index starts empty again, and the next update of derived data builds it.
 */
export const searchAdditions: Migration = {
  name: "search-additions",
  async up(tx, { types: { integer, bytes } }) {
    const statements = [
      // Repositories added to an index since it was built, in the order of their slots: some in a row.
      sql`create table search_additions (
        first_block ${integer} not null, -- of the index
        slot ${integer} not null, -- of the first of them
        data ${bytes} not null, -- 64-bit floats, four of each; see additions.ts in search
        primary key (first_block, slot)
      )`,
      // Given out since the last rebuild.
      sql`alter table search_state rename column changes to slots`,
      sql`drop index search_pages_version`,
      sql`alter table search_pages drop column version`,
      sql`update search_state set first_block = null, slots = 0`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
