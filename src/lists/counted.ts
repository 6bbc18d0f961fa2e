import type { Database } from "../database/database.js";
import type { CountRequest, FacetCounts } from "./counts.js";
import type { ListIndex } from "./index/list-index.js";
import type { ListSpec } from "./spec.js";
import { idsWithTopics } from "./sql/ids.js";

/**
 * Counts the matches of a list by the values of its filters, as they were when the list index was built. Undefined without an
 * index that is recent: SQL would scan the catalogue. `revision` is that of the catalogue.
 */
export async function countMatches(
  { database, index }: { database: Database; index: ListIndex },
  spec: ListSpec,
  { request, revision }: { request: CountRequest; revision: number },
): Promise<FacetCounts | undefined> {
  const { scope } = spec;
  if (scope.kind === "watchlist") return undefined;
  const isKnown = index.freshness(revision) !== "none";
  const rare = isKnown ? index.rareTopics(spec) : [];
  const rareTopics = rare.length === 0 ? [] : await idsWithTopics(database, rare);
  if (!isKnown || rareTopics === undefined) {
    index.missCounts();
    return undefined;
  }
  return index.count(spec, { scope: scope.kind === "found" ? scope.ids : undefined, rareTopics }, request);
}
