import type { Accounts, ApiKeys } from "./accounts/accounts.js";
import type { Catalog } from "./catalog/catalog.js";
import type { Database } from "./database/database.js";
import type { Lists } from "./lists/lists.js";
import type { Usage } from "./metering/metering.js";
import type { Rankings } from "./rankings/rankings.js";
import { orderWords, type Search, updateWords } from "./search/search.js";
import type { Watchlists } from "./watchlists/watchlists.js";

/** The modules on one database, used by the API, the pages, the command line and the worker. Built in `app.ts`. */
export interface Modules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
  lists: Lists;
}

/** The modules that belong to people, over the same database. */
export interface Members {
  accounts: Accounts;
  keys: ApiKeys;
  usage: Usage;
}

/** Steps of `updateDerived`, reported to `onProgress`. */
export type UpdateStep = "growth" | "search";

/**
 * Updates derived data incrementally, at a cost proportional to what changed; the worker calls it in a loop. Reordering the
 * search index takes time proportional to the catalog, so it is only done when `isOrderDue`.
 */
export async function followChanges({ database, rankings }: Modules, isOrderDue: boolean): Promise<void> {
  const changed = await rankings.update();
  const worded = await updateWords(database);
  if (isOrderDue) await orderWords(database);
  if (changed + worded > ANALYZED_FROM) await database.dialect.analyze(database.write);
}

/** Number of changes after which the planner's statistics are refreshed. */
const ANALYZED_FROM = 50_000;

/** Updates all data derived from the catalog: growth, facets and counters, then the search index. */
export async function updateDerived(
  { database, rankings }: Modules,
  onProgress: (step: UpdateStep, repositories: number) => void = () => {},
): Promise<void> {
  // The planner does not know yet what an import has just written.
  await database.dialect.analyze(database.write);
  await rankings.update({ all: true, onProgress: (done) => onProgress("growth", done) });
  await updateWords(database, (done) => onProgress("search", done));
  await orderWords(database);
  await database.dialect.analyze(database.write);
}
