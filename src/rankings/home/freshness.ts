import { countFreshness, type FreshnessCounts, type Recency } from "../../catalog/catalog.js";
import { HOUR_MS } from "../../clock.js";
import type { Db } from "../../database/database.js";

/** A provider in the summary before this one. */
interface Before extends FreshnessCounts {
  asOf: number | null;
}

/** Counting as many repositories takes long enough to do it once an hour only. */
const MANY = 20_000;

/**
 * Counts the fresh and stale repositories of a provider, which reads all of them. With many, what was counted before is kept
 * while the provider's newest snapshot is of the same hour; `isFileNew`: whether an archive has a newer file since.
 */
export async function freshnessOf(
  db: Db,
  { provider, repositories }: { provider: string; repositories: number },
  { recency, before, isFileNew }: { recency: Recency; before: Before | undefined; isFileNew: boolean },
): Promise<FreshnessCounts> {
  const hour = (at: number | null | undefined) => Math.floor((at ?? 0) / HOUR_MS);
  const isKept = before !== undefined && !isFileNew && hour(before.asOf) === hour(recency.asOf.get(provider));
  if (repositories < MANY || !isKept) return countFreshness(db, provider, recency);
  return { freshRepositories: before.freshRepositories, staleRepositories: before.staleRepositories };
}
