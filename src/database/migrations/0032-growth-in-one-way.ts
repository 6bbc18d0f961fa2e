import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** All growth is swept in batches, so no second table is filled, and no lease of its own is needed. */
export const growthInOneWay: Migration = {
  name: "growth in one way",
  async up(tx) {
    for (const table of ["runs", "growth_rebuilds", "moved_days"])
      await sql`drop table ${sql.table(table)}`.execute(tx);
    await sql`drop table if exists rollups_next`.execute(tx);
    await sql`delete from outdated where kind in ('rollups_in_rebuild', 'rollups_damaged')`.execute(tx);
    await sql`delete from marks where name = 'growth_partial'`.execute(tx);
  },
};
