import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Growth that is recent by the repository's own clock, and that may begin in the star history and end in totals. */
export const ownClocks: Migration = {
  name: "own-clocks",
  async up(tx, engine) {
    const { integer } = engine.types;
    if (engine.engine === "sqlite") {
      // Its name ends in the number of the last rebuild.
      const { rows } = await sql<{ name: string }>`select name from sqlite_schema
        where type = 'index' and tbl_name = 'rollups' and name like 'rollups_age_%'`.execute(tx);
      for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(tx);
    }
    const statements = [
      sql`alter table rollups drop column fresh_until`,
      sql`alter table rollups add column held_until ${integer}`, // the last reading of the star history in the window
      sql`alter table rollups add column held_delta ${integer}`, // the stars that it gained until then
      sql`alter table rollups add column totals_from ${integer}`, // the first total after it
      // Scales of a day long past: the next update rebuilds growth, in a second table beside the one that is served.
      sql`update score_scales set as_of = 0`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
