import type { Migration } from "../migration.js";
import { accountTables } from "./0024-schema/accounts.js";
import { catalogueTables } from "./0024-schema/catalogue.js";
import { growthTables } from "./0024-schema/growth.js";
import { trackingTables } from "./0024-schema/tracking.js";
import { watchlistTables } from "./0024-schema/watchlists.js";

/**
 * The schema of a new store, one file per subject. Conventions: times are milliseconds since 1970 UTC (columns ending in `_at`, and
 * `until`); booleans are 0 or 1, null if unknown; `day` and `hour` count days and hours since 1970; text compares bytewise. What a
 * column means is documented in the types of src/database as well.
 */
export const schema: Migration = {
  name: "schema",
  async up(tx, engine) {
    const statements = [
      ...catalogueTables(engine),
      ...growthTables(engine),
      ...trackingTables(engine),
      ...accountTables(engine),
      ...watchlistTables(engine),
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
