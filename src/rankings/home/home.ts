/**
 * The summary of the catalog and the content of the first page, prepared when data changes so that a request reads one row.
 * They are computed from ranks and facets, so `update` must come after those.
 */
import { bumpRevision } from "../../catalog/catalog.js";
import type { Database } from "../../database/database.js";
import { computeHome } from "./first-page.js";
import { readPrepared, storePrepared } from "./prepared.js";
import { computeSummary, type Summary } from "./summary.js";

export { checkSummary } from "./check.js";
export { type GainingFacets, type Home, type RankedList, readHome } from "./first-page.js";
export { type DocumentReader, documentReader } from "./prepared.js";
export { type CurrentSummary, readSummary, type Summary } from "./summary.js";

/**
 * Recomputes both. Responses become outdated, and the revision changes, only if the content did. They are computed before the
 * transaction that stores them, as counting all repositories takes long.
 */
export async function update(database: Database, now: number): Promise<void> {
  const { dialect, write } = database;
  const summary = await computeSummary(write, now, await readPrepared<Summary>(write, "summary"));
  const home = await computeHome(database, now);
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const isSummaryNew = await storePrepared(tx, "summary", summary);
    const isHomeNew = await storePrepared(tx, "home", home);
    if (isSummaryNew || isHomeNew) await bumpRevision(tx);
  });
}
