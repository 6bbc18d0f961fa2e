import { sql } from "kysely";
import { bumpRevision, newestSnapshots, repositoriesAfter } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import {
  type BulkRow,
  createRollupTable,
  type Database,
  type Dialect,
  indexRollupTable,
  type Tx,
} from "../database/database.js";
import { FallCounter } from "./falls.js";
import { growthOf } from "./growth.js";
import { readPasts } from "./past.js";
import { ROLLUP_COLUMNS, rollupRow, type ScoredRow, scoreInput, storedScores } from "./rollups.js";
import { type Run, runAlone } from "./runs.js";
import { type AllScales, keepScales, readScales, ScaleMeter, scalesOf } from "./scales.js";
import { score } from "./scores.js";
import { WINDOWS } from "./windows.js";

/** The mark that some growth has changed since all of it was made, so that the scales are of another state. */
export const PARTIAL = "growth_partial";

/** Repositories in one transaction. */
const BATCH = 1_000;
/**
 * Makes the growth and scores of all repositories anew: beside the present ones, which stand until the new ones are
 * whole and indexed. What is recorded meanwhile keeps or gets its mark, and is made again afterwards. Returns how many
 * repositories were looked at; 0 when another process is at it.
 */
export async function refreshAll(
  database: Database,
  clock: Clock,
  onProgress: (done: number) => void,
): Promise<number> {
  const { dialect } = database;
  const prepare = async (tx: Tx, generation: number) => {
    await sql`drop table if exists rollups_next`.execute(tx);
    await createRollupTable(dialect, "rollups_next", generation).execute(tx);
    // From here on a mark means a change that this run may not have seen.
    await tx.deleteFrom("outdated").where("kind", "in", ["rollups", "regrown"]).execute();
  };
  const work = (run: Run) => makeAll(database, clock, run, onProgress);
  return (await runAlone(database, clock, "growth", prepare, work)) ?? 0;
}

async function makeAll(
  database: Database,
  clock: Clock,
  run: Run,
  onProgress: (done: number) => void,
): Promise<number> {
  const { dialect, write } = database;
  const used = await readScales(write);
  const newest = await newestSnapshots(write);
  const meter = new ScaleMeter();
  const falls = new FallCounter();
  const lastIds: number[] = [];
  let done = 0;
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(write, after, BATCH);
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    lastIds.push(last);
    const rows = (await readPasts(write, dialect, ids)).flatMap((past): BulkRow[] => {
      const asOf = newest.get(past.provider) ?? 0;
      const growth = growthOf(past, asOf);
      meter.add(past.provider, growth);
      falls.add(past);
      return growth.map((one) => rollupRow(past, one, used, asOf));
    });
    await run.step((tx) =>
      dialect.insertNew(tx, "rollups_next", ROLLUP_COLUMNS, ["repository_id", "window_hours"], rows),
    );
    done += ids.length;
    onProgress(done);
  }
  const scales = meter.measure();
  if (!areSame(scales, used)) await rescore(database, run, scales, lastIds);
  for (const index of indexRollupTable("rollups_next", run.generation)) {
    await run.step((tx) => index.execute(tx));
  }
  await run.step((tx) => dialect.analyze(tx, "rollups_next"));
  await swapWhenFree(database, clock, run, { scales, newest, falls });
  return done;
}

/** How often the swap is tried where a long reader, such as a backup, holds the present table; and how long apart. */
const SWAP_TRIES = 200;
const SWAP_REST_MS = 5_000;

async function swapWhenFree(
  { dialect }: Database,
  clock: Clock,
  run: Run,
  measured: Measured,
): Promise<void> {
  const { signal } = new AbortController();
  for (let tries = 1; ; tries++) {
    try {
      return await run.end((tx) => swap(tx, dialect, measured));
    } catch (error) {
      if (!dialect.isInUse(error) || tries === SWAP_TRIES) throw error;
      await clock.sleep(SWAP_REST_MS, signal);
      await run.step(async () => {});
    }
  }
}

function areSame(measured: AllScales, used: AllScales): boolean {
  return [...measured].every(([provider, windows]) =>
    WINDOWS.every((window) => {
      const { stars, forks } = scalesOf(used, provider, window);
      return windows[window].stars === stars && windows[window].forks === forks;
    }),
  );
}

/** Makes the scores anew of those that gained something; those of the others do not depend on the scales. */
async function rescore(
  { dialect, write }: Database,
  run: Run,
  scales: AllScales,
  lastIds: readonly number[],
): Promise<void> {
  let after = 0;
  for (const last of lastIds) {
    const { rows } = await sql<ScoredRow>`select g.*, r.created_at, r.pushed_at, r.availability
      from rollups_next g join repositories r on r.id = g.repository_id
      where g.repository_id > ${after} and g.repository_id <= ${last} and (g.stars_delta > 0 or g.forks_delta > 0)`.execute(
      write,
    );
    after = last;
    const scored = rows.map(
      (row): BulkRow => [
        row.repository_id,
        row.window_hours,
        ...storedScores(score(scoreInput(row, scales))),
      ],
    );
    if (scored.length > 0) await run.step((tx) => dialect.updateRows(tx, "rollups_next", SCORES, 2, scored));
  }
}

const SCORES = {
  repository_id: "bigint",
  window_hours: "bigint",
  trending: "bigint",
  rising: "bigint",
  new_hot: "bigint",
  star_momentum: "bigint",
  fork_momentum: "bigint",
  activity: "bigint",
} as const;

interface Measured {
  scales: AllScales;
  newest: ReadonlyMap<string, number>;
  falls: FallCounter;
}

async function swap(tx: Tx, dialect: Dialect, { scales, newest, falls }: Measured): Promise<void> {
  await dialect.replaceTable(tx, "rollups", "rollups_next");
  await keepScales(tx, scales, newest);
  await falls.keep(tx, dialect);
  await sql`insert into outdated (kind, repository_id) select 'rollups', repository_id from outdated
    where kind = 'regrown' on conflict do nothing`.execute(tx);
  await tx.deleteFrom("outdated").where("kind", "in", ["regrown", "places"]).execute();
  await tx.deleteFrom("marks").where("name", "=", PARTIAL).execute();
  // No repository has this id: it stands for all of them.
  await tx.insertInto("outdated").values({ kind: "places", repository_id: 0 }).execute();
  await bumpRevision(tx);
}
