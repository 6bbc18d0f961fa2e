import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Growth that does not count the return to an earlier level, however long the fall before it lasted. */
export const returnedLevels: Migration = {
  name: "returned-levels",
  async up(tx) {
    // Scales of a day long past: the next update rebuilds growth, in a second table beside the one that is served.
    await sql`update score_scales set as_of = 0`.execute(tx);
  },
};
