import { sql } from "kysely";
import type { Database, Db, Dialect, Tx } from "../database/database.js";
import { ALL_REPOSITORIES, type ChangedRepositories, readContributions } from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import {
  bumpRevision,
  clearMarks,
  type Run,
  type RunName,
  repositoriesAfter,
  runExclusively,
  runState,
} from "../repositories/repositories.js";
import { FacetRebuild, readFacetParts, updateFacets } from "./facets/facets.js";
import { archiveRanks, RankRebuild, updateRanks } from "./ranks/ranks.js";

/** Repositories read at a time. */
const BATCH = 5_000;
/** Changed repositories that are brought up to date together: many move the same leaderboards. */
const TOGETHER = 10_000;
/** From this many changed repositories a rebuild costs less. */
const MANY = 100_000;

const RUN: RunName = "aggregates";

/**
 * Brings ranks and facets up to date, from one read of what each repository contributes to them. Usually that is done for
 * the repositories marked as changed; everything is rebuilt after a rebuild of growth, after many changes, or when a
 * leaderboard is damaged.
 *
 * It is computed first and then written in short transactions, in the order of the keys. Marks are deleted before that; if
 * this is killed, the run is found abandoned, and everything is rebuilt.
 */
export async function updateAggregates(database: Database, clock: Clock): Promise<void> {
  const { dialect, write } = database;
  for (;;) {
    const state = await runState(write, clock, RUN);
    if (state === "running") return;
    const marked = await readMarks(write, MANY);
    if (marked.length === 0 && state === "none") return;
    const isRebuild = state === "abandoned" || marked[0] === ALL_REPOSITORIES || marked.length >= MANY;
    const ids = isRebuild ? [] : marked.slice(0, TOGETHER);
    const done = await runExclusively(database, clock, {
      name: RUN,
      prepare: (tx) => deleteMarks(tx, dialect, ids),
      async work(run) {
        if (isRebuild) await clearMarks(run, dialect, ["ranks"]);
        await archiveRanks(database, run, clock);
        if (isRebuild || !(await updateChanged(database, run, ids))) await rebuild(database, run);
        await run.end((tx) => bumpRevision(tx));
        return true;
      },
    });
    if (done !== true) return;
  }
}

async function readMarks(db: Db, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "ranks")
    .orderBy("repository_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.repository_id);
}

/** Marks set from now on are changes that the run may miss. */
async function deleteMarks(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  const here = dialect.among(sql.ref("repository_id"), ids);
  await tx.deleteFrom("outdated").where("kind", "=", "ranks").where(here).execute();
}

/** Returns false, having left ranks and facets as they were, if a leaderboard is damaged. */
async function updateChanged(database: Database, run: Run, ids: readonly number[]): Promise<boolean> {
  const { dialect, write } = database;
  const changed: ChangedRepositories = { ids, contributions: await readContributions(write, dialect, ids) };
  const competedUntilNow = (some: readonly number[]) => readFacetParts(write, dialect, some);
  const before = [...(await competedUntilNow(ids)).values()];
  if (!(await updateRanks(database, run, { ...changed, before, competedUntilNow }))) return false;
  await updateFacets(dialect, run, { ...changed, before });
  return true;
}

async function rebuild(database: Database, run: Run): Promise<void> {
  const { dialect, write } = database;
  const ranks = await RankRebuild.start(write);
  const facets = new FacetRebuild(dialect);
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(write, dialect, { after, limit: BATCH });
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    const contributions = await readContributions(write, dialect, ids);
    ranks.add(contributions);
    await facets.add(run, dialect, contributions);
  }
  await facets.finish(database, run);
  await ranks.write(run, dialect);
}
