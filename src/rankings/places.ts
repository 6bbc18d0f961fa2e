import { sql } from "kysely";
import { bumpRevision, repositoriesAfter } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, Tx } from "../database/database.js";
import { FacetSums, keepFacetParts, readFacetParts } from "./facets.js";
import { mergePlaces, PlaceCollector, readRankedTopics, replacePlaces } from "./positions.js";
import { keepToday } from "./rank-history.js";
import { type Run, runAlone, runState } from "./runs.js";
import { readStandings } from "./standings.js";

/** Repositories read at a time when all are. */
const BATCH = 5_000;
/** From so many changed repositories on, making everything anew costs less. */
const MANY = 100_000;

/**
 * Brings up to date what sums up the catalogue: places in the rankings, their history, and facets. For the repositories
 * that were marked; for all when all growth was made anew, or when a list of places has lost more than its reserve.
 * Returns whether anything was done.
 */
export async function updatePlaces(database: Database, clock: Clock): Promise<boolean> {
  const { dialect, write } = database;
  const state = await runState(write, clock, "places");
  if (state === "running") return false;
  const marked = await write
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "places")
    .orderBy("repository_id")
    .limit(MANY)
    .execute();
  if (marked.length === 0 && state === "none") return false;
  const ids = marked.map((row) => row.repository_id);
  const isWhole = state === "abandoned" || ids[0] === 0 || ids.length >= MANY;
  if (!isWhole) {
    const result = await dialect.exclusively(write, "catalogue", async (tx) => {
      // Another process may have begun with all of them meanwhile.
      if ((await runState(tx, clock, "places")) !== "none") return "busy";
      return (await updateSome(tx, database, ids)) ? "done" : "too few";
    });
    if (result !== "too few") return result === "done";
  }
  const done = await runAlone(database, clock, "places", beginAll, (run) => updateAll(database, run));
  return done ?? false;
}

/** Returns false, with nothing changed, when the places of some list can only be told by looking at all repositories. */
async function updateSome(tx: Tx, { dialect }: Database, ids: readonly number[]): Promise<boolean> {
  const standings = await readStandings(tx, dialect, ids);
  if (!(await mergePlaces(tx, dialect, ids, standings))) return false;
  const sums = new FacetSums();
  for (const part of await readFacetParts(tx, dialect, ids)) sums.add(part, -1);
  for (const standing of standings) sums.add(standing, 1);
  await keepFacetParts(tx, dialect, ids, standings);
  await sums.apply(tx, dialect);
  await keepToday(tx);
  await tx
    .deleteFrom("outdated")
    .where("kind", "=", "places")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await bumpRevision(tx);
  return true;
}

/** From here on a mark means a change that this run may not have seen; id 0 stands for all repositories. */
async function beginAll(tx: Tx): Promise<void> {
  await tx.deleteFrom("outdated").where("kind", "=", "places").execute();
  await sql`delete from facet_parts`.execute(tx);
}

async function updateAll(database: Database, run: Run): Promise<boolean> {
  const { dialect, write } = database;
  const collector = new PlaceCollector(await readRankedTopics(write));
  const sums = new FacetSums();
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(write, after, BATCH);
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    const standings = await readStandings(write, dialect, ids);
    for (const standing of standings) {
      sums.add(standing, 1);
      collector.add(standing);
    }
    await run.step((tx) => keepFacetParts(tx, dialect, [], standings));
  }
  await run.step((tx) => sums.replace(tx, dialect));
  for (const table of collector.tables()) await run.step((tx) => replacePlaces(tx, dialect, table));
  await run.end(async (tx) => {
    await keepToday(tx);
    await bumpRevision(tx);
  });
  return true;
}
