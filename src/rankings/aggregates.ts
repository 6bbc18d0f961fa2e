import { sql } from "kysely";
import { bumpRevision, type Run, repositoriesAfter, runExclusively, runState } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, Tx } from "../database/database.js";
import { ALL_REPOSITORIES, readContributions } from "./contributions.js";
import { FacetRebuild, updateFacets } from "./facets/facets.js";
import { archiveRanks, RankRebuild, updateRanks } from "./ranks/ranks.js";

/** Repositories read at a time during a rebuild. */
const BATCH = 5_000;
/** From this many changed repositories a rebuild costs less. */
const MANY = 100_000;

/**
 * Brings ranks and facets up to date, from one read of what each repository contributes to them. Usually that is done for
 * the repositories marked as changed; everything is rebuilt after a rebuild of growth, after many changes, or when a
 * leaderboard has lost more repositories than it holds in reserve. Returns whether anything was done.
 */
export async function updateAggregates(database: Database, clock: Clock): Promise<boolean> {
  const { dialect, write } = database;
  const state = await runState(write, clock, "aggregates");
  if (state === "running") return false;
  const marked = await write
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "ranks")
    .orderBy("repository_id")
    .limit(MANY)
    .execute();
  if (marked.length === 0 && state === "none") return false;
  const ids = marked.map((row) => row.repository_id);
  const isRebuildDue = state === "abandoned" || ids[0] === ALL_REPOSITORIES || ids.length >= MANY;
  if (!isRebuildDue) {
    const result = await dialect.exclusively(write, "catalogue", async (tx) => {
      // Another process may have started a rebuild in the meantime.
      if ((await runState(tx, clock, "aggregates")) !== "none") return "busy";
      return (await updateChanged(tx, database, ids)) ? "done" : "needs rebuild";
    });
    if (result !== "needs rebuild") return result === "done";
  }
  const done = await runExclusively(database, clock, {
    name: "aggregates",
    prepare: (tx) => startRebuild(tx),
    work: (run) => rebuild(database, run),
  });
  return done ?? false;
}

/** Returns false, having left ranks and facets as they were, if the ranks can only be found by a rebuild. */
async function updateChanged(tx: Tx, { dialect }: Database, ids: readonly number[]): Promise<boolean> {
  const changed = { ids, contributions: await readContributions(tx, dialect, ids) };
  await archiveRanks(tx);
  if (!(await updateRanks(tx, dialect, changed))) return false;
  await updateFacets(tx, dialect, changed);
  await tx
    .deleteFrom("outdated")
    .where("kind", "=", "ranks")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await bumpRevision(tx);
  return true;
}

async function startRebuild(tx: Tx): Promise<void> {
  // Marks set from now on are changes that this run may miss.
  await tx.deleteFrom("outdated").where("kind", "=", "ranks").execute();
  await FacetRebuild.clear(tx);
  await archiveRanks(tx);
}

async function rebuild({ dialect, write }: Database, run: Run): Promise<boolean> {
  const ranks = await RankRebuild.start(write);
  const facets = new FacetRebuild();
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(write, after, BATCH);
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    const contributions = await readContributions(write, dialect, ids);
    ranks.add(contributions);
    await run.step((tx) => facets.add(tx, dialect, contributions));
  }
  await run.step((tx) => facets.finish(tx, dialect));
  for (const write of ranks.writes(dialect)) await run.step(write);
  await run.end((tx) => bumpRevision(tx));
  return true;
}
