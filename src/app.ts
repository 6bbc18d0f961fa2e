/** The only file that builds modules and joins them. */
import { Catalog } from "./catalog/catalog.js";
import type { Clock } from "./clock.js";
import type { Database } from "./database/database.js";
import { Rankings } from "./rankings/rankings.js";
import { Search, updateWords } from "./search/search.js";
import { Watchlists } from "./watchlists/watchlists.js";

/** The modules over one database. */
export interface Modules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
}

export function buildModules(database: Database, clock: Clock): Modules {
  const catalog = new Catalog(database, clock);
  return {
    database,
    catalog,
    rankings: new Rankings(database, clock),
    search: new Search(database, catalog),
    watchlists: new Watchlists(database, clock),
  };
}

/** Steps of bringing up to date what is derived, as told to `onProgress`. */
export type UpdateStep = "growth" | "search";

/** Brings up to date what is derived from the catalogue. Does nothing where nothing has changed. */
export async function updateDerived(
  { database, rankings }: Modules,
  onProgress: (step: UpdateStep, done: number) => void = () => {},
): Promise<void> {
  await rankings.update((done) => onProgress("growth", done));
  await updateWords(database, (done) => onProgress("search", done));
}
