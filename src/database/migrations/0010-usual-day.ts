import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** What each repository gains on a usual day, beside its growth. */
export const usualDay: Migration = {
  name: "usual-day",
  async up(tx, { types: { integer } }) {
    // The same as a full rebuild creates (rollup-tables.ts). Null until growth is next computed.
    await sql`alter table rollups add column stars_usual ${integer}`.execute(tx);
    // Scales of a day long past: the next update rebuilds growth, in a second table beside the one that is served.
    await sql`update score_scales set as_of = 0`.execute(tx);
  },
};
