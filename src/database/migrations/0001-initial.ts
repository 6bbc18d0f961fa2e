import type { Migration } from "../migration.js";
import { accountTables } from "./0001-initial/accounts.js";
import { catalogTables } from "./0001-initial/catalog.js";
import { rankingTables } from "./0001-initial/rankings.js";
import { searchTables } from "./0001-initial/search.js";
import { trackingTables } from "./0001-initial/tracking.js";
import { usageTables } from "./0001-initial/usage.js";
import { watchlistTables } from "./0001-initial/watchlists.js";

/**
 * The first schema, one file per subject. Conventions: times are milliseconds since 1970 UTC (columns ending in `_at`, and
 * `until`); booleans are 0 or 1, null where unknown; `day` and `hour` count days and hours since 1970; text compares bytewise.
 */
export const initial: Migration = {
  name: "initial",
  async up(tx, engine) {
    const statements = [
      ...catalogTables(engine),
      ...searchTables(engine),
      ...rankingTables(engine),
      ...trackingTables(engine),
      ...accountTables(engine),
      ...watchlistTables(engine),
      ...usageTables(engine),
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
