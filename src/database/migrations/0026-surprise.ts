import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Scores that compare gains with the usual day, and no longer with a scale of each forge. */
export const surprise: Migration = {
  name: "surprise",
  async up(tx, { types: { integer, text } }) {
    const statements = [
      sql`drop table score_scales`,
      // Without a row for a provider, the next update rebuilds all growth, in a second table beside the one that is served.
      sql`create table growth_rebuilds (
        provider ${text} primary key,
        as_of ${integer} not null -- the provider's newest full day when all growth was last rebuilt
      )`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
