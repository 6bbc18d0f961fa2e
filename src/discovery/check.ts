import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import {
  ALL_REPOSITORIES,
  type Contribution,
  checkGrowth,
  type GrowthDamage,
  readContributions,
} from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import { repositoriesAfter, runState } from "../repositories/repositories.js";
import { FacetCheck } from "./facets/facets.js";
import { checkSummary } from "./home/home.js";
import { checkLeaderboards, checkRankBlocks, checkRankRows, type RankDamage } from "./ranks/ranks.js";

/** Kinds of damage of data that rankings derive. */
export type RankingDamage =
  | GrowthDamage
  | "facet-parts-wrong"
  | "facets-wrong"
  | RankDamage
  | "summary-wrong";

export interface RankingCheck {
  clock: Clock;
  onDamage: (kind: RankingDamage, found: string) => void;
}

/** Repositories read at a time. */
const BATCH = 5_000;

/**
 * Compares the stored data of rankings with what follows from the catalogue, a batch of repositories at a time. Leaves out data
 * that is marked as outdated or being rebuilt, as the next update brings it up to date. The database must not change meanwhile.
 */
export async function checkRankings(
  db: Db,
  dialect: Dialect,
  { clock, onDamage }: RankingCheck,
): Promise<void> {
  await checkRankBlocks(db, dialect, onDamage);
  if ((await runState(db, clock, "growth")) === "none") await checkGrowth(db, dialect, onDamage);
  if ((await runState(db, clock, "aggregates")) !== "none") return;
  const marked = await readMarked(db);
  const facets = new FacetCheck((found) => onDamage("facets-wrong", found));
  if (!marked.has(ALL_REPOSITORIES)) {
    for (let after = 0; ; ) {
      const ids = await repositoriesAfter(db, dialect, { after, limit: BATCH });
      const last = ids.at(-1);
      if (last === undefined) break;
      after = last;
      const contributions = await readContributions(db, dialect, ids);
      for (const id of await facets.add(db, dialect, { ids, contributions }))
        if (!marked.has(id)) onDamage("facet-parts-wrong", `repository ${id}`);
    }
    await facets.finish(db);
    const known = contributionReader(db, dialect, marked);
    await checkLeaderboards(db, known, onDamage);
    await checkRankRows(db, onDamage);
    await checkSummary(db, marked.size > 0, (found) => onDamage("summary-wrong", found));
  }
}

/** Repositories whose ranks are to be updated. */
async function readMarked(db: Db): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select repository_id as id from outdated
    where kind in ('ranks', 'rollups')`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Reads the contributions of repositories: undefined for those not listed, "unknown" for those to be updated. */
function contributionReader(
  db: Db,
  dialect: Dialect,
  marked: ReadonlySet<number>,
): Parameters<typeof checkLeaderboards>[1] {
  return async (ids) => {
    const found = new Map<number, Contribution>();
    for (let from = 0; from < ids.length; from += BATCH)
      for (const one of await readContributions(db, dialect, ids.slice(from, from + BATCH)))
        found.set(one.repositoryId, one);
    return (id) => (marked.has(id) ? "unknown" : found.get(id));
  };
}
