/**
 * The summary of the catalog and the content of the first page, prepared when data changes so that a request reads one row.
 * They are computed from ranks and facets, so `update` must come after those.
 */
import { bumpRevision } from "../../catalog/catalog.js";
import type { Database } from "../../database/database.js";
import { updateHome } from "./first-page.js";
import { updateSummary } from "./summary.js";

export { type Home, type RankedList, readHome } from "./first-page.js";
export { type DocumentReader, documentReader } from "./prepared.js";
export { type CurrentSummary, readSummary, type Summary } from "./summary.js";

/** Recomputes both. Responses become outdated, and the revision changes, only if the content did. */
export async function update({ dialect, write }: Database, now: number): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const isSummaryNew = await updateSummary(tx, now);
    const isHomeNew = await updateHome(tx, now);
    if (isSummaryNew || isHomeNew) await bumpRevision(tx);
  });
}
