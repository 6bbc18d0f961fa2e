import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Growth by new rules of what counts, and of what `excludeAnomalous` leaves out. */
export const supportedGrowth: Migration = {
  name: "supported-growth",
  async up(tx) {
    // Scales of a day long past: the next update rebuilds growth, in a second table beside the one that is served.
    await sql`update score_scales set as_of = 0`.execute(tx);
  },
};
