import { type RawBuilder, sql } from "kysely";
import { bumpRevision } from "../catalog/catalog.js";
import type { BulkColumns, BulkRow, Database, Dialect, Tx } from "../database/database.js";
import { chooseFrom, WINDOW_HOURS, WINDOWS, windowMs } from "./windows.js";

/** Repositories rolled up in one transaction. */
const BATCH = 5_000;

/** The snapshots to compare: one row a repository and window. */
const COMPARISON_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  window_hours: "bigint",
  provider: "text",
  from_at: "bigint",
  to_at: "bigint",
};

/** `before_24`, `after_24` and so on: the snapshots on both sides of `to - window`. */
interface Candidates extends Record<string, number | string | null> {
  repository_id: number;
  provider: string;
  to_at: number;
}

/**
 * Computes the growth of every repository that got a snapshot since the last time, and drops the growth of those whose
 * newest snapshot has become older than the window allows. The cost follows what changed. Safe to be killed and run
 * again. Returns how many repositories were looked at.
 */
export async function updateRollups(
  database: Database,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const { dialect, write } = database;
  let done = 0;
  for (;;) {
    const count = await dialect.exclusively(write, "catalogue", (tx) => rollUpBatch(tx, dialect));
    if (count === 0) break;
    done += count;
    onProgress(done);
  }
  if (done > 0) {
    await dialect.exclusively(write, "catalogue", async (tx) => {
      await dropStale(tx);
      await bumpRevision(tx);
    });
  }
  return done;
}

async function rollUpBatch(tx: Tx, dialect: Dialect): Promise<number> {
  const outdated = await tx
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "rollups")
    .orderBy("repository_id")
    .limit(BATCH)
    .execute();
  if (outdated.length === 0) return 0;
  const ids = outdated.map((row) => row.repository_id);
  const here = dialect.among(sql.ref("repository_id"), ids);
  const comparisons = (await readCandidates(tx, dialect, ids)).flatMap(compare);
  await tx.deleteFrom("rollups").where(here).execute();
  if (comparisons.length > 0) await insertRollups(tx, dialect.rowsOf(COMPARISON_COLUMNS, comparisons));
  await tx.deleteFrom("outdated").where("kind", "=", "rollups").where(here).execute();
  await bumpRevision(tx);
  return ids.length;
}

async function readCandidates(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<Candidates[]> {
  const columns = WINDOWS.flatMap((window): RawBuilder<unknown>[] => {
    const target = sql`n.to_at - ${sql.lit(windowMs(window))}`;
    const side = (name: string, choice: RawBuilder<unknown>) =>
      sql`(select ${choice} ${target}) as ${sql.ref(`${name}_${WINDOW_HOURS[window]}`)}`;
    const rest = sql`from snapshots s where s.repository_id = n.repository_id and s.captured_at`;
    return [
      side("before", sql`max(s.captured_at) ${rest} <=`),
      side("after", sql`min(s.captured_at) ${rest} >`),
    ];
  });
  const result = await sql<Candidates>`
    with n as materialized (
      select r.id as repository_id, r.provider as provider,
        (select max(s.captured_at) from snapshots s where s.repository_id = r.id) as to_at
      from repositories r where ${dialect.among(sql.ref("r.id"), ids)})
    select n.repository_id, n.provider, n.to_at, ${sql.join(columns)} from n where n.to_at is not null`.execute(
    tx,
  );
  return result.rows;
}

function compare(candidates: Candidates): BulkRow[] {
  const { repository_id, provider, to_at } = candidates;
  return WINDOWS.flatMap((window): BulkRow[] => {
    const hours = WINDOW_HOURS[window];
    const time = (name: string): number | null => {
      const value = candidates[`${name}_${hours}`];
      return value === null || value === undefined ? null : Number(value);
    };
    const from = chooseFrom(to_at, windowMs(window), time("before"), time("after"));
    return from === undefined || from >= to_at ? [] : [[repository_id, hours, provider, from, to_at]];
  });
}

async function insertRollups(tx: Tx, comparisons: RawBuilder<unknown>): Promise<void> {
  await sql`insert into rollups (repository_id, window_hours, provider, from_at, to_at,
      stars_delta, forks_delta, open_issues_delta, stars_growth)
    select c.repository_id, c.window_hours, c.provider, c.from_at, c.to_at,
      t.stars - f.stars, t.forks - f.forks, t.open_issues - f.open_issues,
      case when f.stars > 0 then cast(t.stars - f.stars as double precision) / f.stars end
    from (${comparisons}) as c
    join snapshots f on f.repository_id = c.repository_id and f.captured_at = c.from_at
    join snapshots t on t.repository_id = c.repository_id and t.captured_at = c.to_at`.execute(tx);
}

/** A window ends at the newest snapshot of the provider; what ended before that window began says nothing about it. */
async function dropStale(tx: Tx): Promise<void> {
  const newest = await tx
    .selectFrom("snapshot_hours")
    .select(({ fn }) => ["provider", fn.max("newest_at").as("as_of")])
    .groupBy("provider")
    .execute();
  for (const { provider, as_of } of newest) {
    for (const window of WINDOWS) {
      await tx
        .deleteFrom("rollups")
        .where("provider", "=", provider)
        .where("window_hours", "=", WINDOW_HOURS[window])
        .where("to_at", "<", Number(as_of) - windowMs(window))
        .execute();
    }
  }
}
