import { type RawBuilder, sql } from "kysely";
import { bumpRevision, markOutdated, newestSnapshots, workOff } from "../catalog/catalog.js";
import type { BulkColumns, BulkRow, Database, Dialect, Tx } from "../database/database.js";
import { countedPart } from "./anomalies.js";
import { type History, readHistories } from "./histories.js";
import { chooseFrom, WINDOW_HOURS, WINDOWS, windowMs } from "./windows.js";

/** Repositories rolled up in one transaction. */
const BATCH = 1_000;

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
  const done = await workOff(database, "rollups", BATCH, (tx, ids) => rollUp(tx, dialect, ids), onProgress);
  // Also when nothing was marked: an earlier run may have ended before it came here.
  await dialect.exclusively(write, "catalogue", async (tx) => {
    if ((await dropStale(tx)) > 0) await bumpRevision(tx);
  });
  return done;
}

async function rollUp(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  const measured = await measure(tx, dialect, (await readCandidates(tx, dialect, ids)).flatMap(compare));
  const histories = await readHistories(tx, dialect, measured);
  const rows = measured.map((one) => rollupRow(one, histories));
  await tx
    .deleteFrom("rollups")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await dialect.insertNew(tx, "rollups", ROLLUP_COLUMNS, ["repository_id", "window_hours"], rows);
  await markOutdated(tx, dialect, "scores", ids);
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

/** Rows as they are inserted; the scores come later. */
const ROLLUP_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  window_hours: "bigint",
  provider: "text",
  from_at: "bigint",
  to_at: "bigint",
  stars_delta: "bigint",
  forks_delta: "bigint",
  open_issues_delta: "bigint",
  stars_growth: "double precision",
  stars_from: "bigint",
  forks_from: "bigint",
  open_issues_from: "bigint",
  snapshots: "bigint",
  counted: "double precision",
  anomalies: "text",
};

interface Measured {
  repository_id: number;
  window_hours: number;
  provider: string;
  from_at: number;
  to_at: number;
  stars_from: number;
  stars_to: number;
  forks_from: number | null;
  forks_to: number | null;
  open_issues_from: number | null;
  open_issues_to: number | null;
}

/** The compared snapshots with their counts. */
async function measure(tx: Tx, dialect: Dialect, comparisons: readonly BulkRow[]): Promise<Measured[]> {
  if (comparisons.length === 0) return [];
  const result = await sql<Measured>`
    select c.repository_id, c.window_hours, c.provider, c.from_at, c.to_at, f.stars as stars_from, t.stars as stars_to,
      f.forks as forks_from, t.forks as forks_to, f.open_issues as open_issues_from, t.open_issues as open_issues_to
    from (${dialect.rowsOf(COMPARISON_COLUMNS, comparisons)}) as c
    join snapshots f on f.repository_id = c.repository_id and f.captured_at = c.from_at
    join snapshots t on t.repository_id = c.repository_id and t.captured_at = c.to_at`.execute(tx);
  return result.rows;
}

function rollupRow(measured: Measured, histories: ReadonlyMap<number, History>): BulkRow {
  const { repository_id, window_hours, provider, from_at, to_at, stars_from, forks_from, open_issues_from } =
    measured;
  const starsDelta = measured.stars_to - stars_from;
  const history = histories.get(repository_id);
  const anomalies = (history?.anomalies ?? []).filter(
    (anomaly) => anomaly.at >= from_at && anomaly.at <= to_at,
  );
  return [
    repository_id,
    window_hours,
    provider,
    from_at,
    to_at,
    starsDelta,
    difference(measured.forks_to, forks_from),
    difference(measured.open_issues_to, open_issues_from),
    stars_from > 0 ? starsDelta / stars_from : null,
    stars_from,
    forks_from,
    open_issues_from,
    history?.snapshots.get(window_hours) ?? 2,
    countedPart(anomalies, from_at, to_at, starsDelta),
    anomalies.length === 0 ? null : JSON.stringify(anomalies),
  ];
}

function difference(to: number | null, from: number | null): number | null {
  return to === null || from === null ? null : to - from;
}

/** A window ends at the newest snapshot of the provider; what ended before that window began says nothing about it. */
async function dropStale(tx: Tx): Promise<number> {
  let dropped = 0n;
  for (const [provider, asOf] of await newestSnapshots(tx)) {
    for (const window of WINDOWS) {
      const { numDeletedRows } = await tx
        .deleteFrom("rollups")
        .where("provider", "=", provider)
        .where("window_hours", "=", WINDOW_HOURS[window])
        .where("to_at", "<", asOf - windowMs(window))
        .executeTakeFirst();
      dropped += numDeletedRows;
    }
  }
  return Number(dropped);
}
