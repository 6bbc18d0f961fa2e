import type { Catalog } from "./catalog/catalog.js";
import type { Database } from "./database/database.js";
import type { Rankings } from "./rankings/rankings.js";
import { type Search, updateWords } from "./search/search.js";
import type { Watchlists } from "./watchlists/watchlists.js";

/** The modules over one database: what the API, the pages, the command line and the worker drive. `app.ts` builds them. */
export interface Modules {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
}

/** Steps of bringing up to date what is derived, as told to `onProgress`. */
export type UpdateStep = "growth" | "search";

/** Brings up to date what is derived from the catalogue: growth, facets and counters, then the search index. */
export async function updateDerived(
  { database, rankings }: Modules,
  onProgress: (step: UpdateStep, repositories: number) => void = () => {},
): Promise<void> {
  await rankings.update({ rescale: true, onProgress: (done) => onProgress("growth", done) });
  await rankings.summarize();
  await updateWords(database, (done) => onProgress("search", done));
  await database.dialect.analyze(database.write);
}
