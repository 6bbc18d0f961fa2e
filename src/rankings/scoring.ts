import { sql } from "kysely";
import { type Availability, newestSnapshots, workOff } from "../catalog/catalog.js";
import { DAY_MS, HOUR_MS } from "../clock.js";
import type { BulkColumns, BulkRow, Database, Dialect, RollupTable, Tx } from "../database/database.js";
import { type Anomaly, DOUBTFUL_KINDS } from "./anomalies.js";
import { confidence, RELIABLE_FROM } from "./confidence.js";
import { FORKS_PRIOR, type Scales, type ScoreInput, STARS_PRIOR, score } from "./scores.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "./windows.js";

/** Repositories scored in one transaction. */
const BATCH = 5_000;
/** The place among a provider's growing repositories whose heat is the scale: one in twenty is hotter. */
const SCALE_PART = 0.05;
/** A scale is never less than one star in a window on a repository of 50. */
const LEAST_SCALE = 0.14;

/** A rollup with what else of its repository the scores look at. */
export type ScoredRow = RollupTable & {
  created_at: number | null;
  pushed_at: number | null;
  availability: string;
};

/**
 * Makes the scores of all repositories whose rollups have changed. The scales of a provider are taken anew when its
 * newest snapshot is of another day than the last time, or when asked; then all its repositories are scored again. So a
 * change costs what changed, and once a day the whole.
 */
export async function updateScores(database: Database, rescale: boolean): Promise<void> {
  const { dialect, write } = database;
  await dialect.exclusively(write, "catalogue", (tx) => updateScales(tx, rescale));
  await workOff(database, "scores", BATCH, (tx, ids) => scoreAll(tx, dialect, ids));
}

function isSameDay(a: number, b: number): boolean {
  return Math.floor(a / DAY_MS) === Math.floor(b / DAY_MS);
}

async function updateScales(tx: Tx, rescale: boolean): Promise<void> {
  for (const [provider, asOf] of await newestSnapshots(tx)) {
    const present = await tx
      .selectFrom("score_scales")
      .selectAll()
      .where("provider", "=", provider)
      .execute();
    const isWhole = present.length === WINDOWS.length;
    const oldest = Math.min(...present.map((row) => row.as_of));
    if (!rescale && isWhole && isSameDay(oldest, asOf)) continue;
    const measured = new Map<number, Scales>();
    for (const window of WINDOWS)
      measured.set(WINDOW_HOURS[window], await measureScales(tx, provider, window));
    const isSame = present.every(({ window_hours, stars, forks }) => {
      const now = measured.get(window_hours);
      return now?.stars === stars && now.forks === forks;
    });
    if (rescale && isWhole && oldest === asOf && isSame) continue;
    for (const [hours, { stars, forks }] of measured) {
      await sql`insert into score_scales (provider, window_hours, as_of, stars, forks)
        values (${provider}, ${hours}, ${asOf}, ${stars}, ${forks})
        on conflict (provider, window_hours) do update set as_of = excluded.as_of, stars = excluded.stars,
          forks = excluded.forks`.execute(tx);
    }
    await sql`insert into outdated (kind, repository_id)
      select distinct 'scores', repository_id from rollups where provider = ${provider}
      on conflict do nothing`.execute(tx);
  }
}

/** The heat that one in twenty of those that gained anything exceeds; damped gains count as much as they are damped. */
async function measureScales(tx: Tx, provider: string, window: Window): Promise<Scales> {
  const hours = WINDOW_HOURS[window];
  const measureOne = async (delta: string, before: string, prior: number): Promise<number> => {
    const gained = sql`${sql.ref(delta)} * counted * ${sql.lit(hours * HOUR_MS)} / (to_at - from_at)`;
    const here = sql`provider = ${provider} and window_hours = ${hours} and ${sql.ref(delta)} > 0`;
    const counted = await sql<{ total: number }>`select count(*) as total from rollups where ${here}`.execute(
      tx,
    );
    const place = Math.floor(Number(counted.rows[0]?.total ?? 0) * SCALE_PART);
    const found = await sql<{
      heat: number;
    }>`select ${gained} / sqrt(coalesce(${sql.ref(before)}, 0) + ${sql.lit(prior)}) as heat
      from rollups where ${here} order by heat desc limit 1 offset ${place}`.execute(tx);
    // Four digits are enough, and the same on both engines.
    return Number(Math.max(LEAST_SCALE, Number(found.rows[0]?.heat ?? 0)).toPrecision(4));
  };
  return {
    stars: await measureOne("stars_delta", "stars_from", STARS_PRIOR),
    forks: await measureOne("forks_delta", "forks_from", FORKS_PRIOR),
  };
}

/** The scales of every provider and window, by `provider hours`. */
export async function readScales(db: Tx | Database["read"]): Promise<Map<string, Scales>> {
  const rows = await db.selectFrom("score_scales").selectAll().execute();
  return new Map(
    rows.map((row) => [`${row.provider} ${row.window_hours}`, { stars: row.stars, forks: row.forks }]),
  );
}

/** What the scores of a rollup are made of. */
export function scoreInput(row: ScoredRow, scales: ReadonlyMap<string, Scales>): ScoreInput {
  const window = WINDOWS.find((name) => WINDOW_HOURS[name] === row.window_hours) ?? "24h";
  const days = (since: number | null) => (since === null ? null : Math.max(0, (row.to_at - since) / DAY_MS));
  return {
    window,
    windowHours: row.window_hours,
    coveredHours: (row.to_at - row.from_at) / HOUR_MS,
    starsFrom: row.stars_from,
    starsDelta: row.stars_delta,
    forksFrom: row.forks_from,
    forksDelta: row.forks_delta,
    openIssuesFrom: row.open_issues_from,
    openIssuesDelta: row.open_issues_delta,
    ageDays: days(row.created_at),
    idleDays: days(row.pushed_at),
    counted: row.counted,
    scales: scales.get(`${row.provider} ${row.window_hours}`) ?? { stars: LEAST_SCALE, forks: LEAST_SCALE },
  };
}

const SCORE_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  window_hours: "bigint",
  trending: "bigint",
  rising: "bigint",
  new_hot: "bigint",
  star_momentum: "bigint",
  fork_momentum: "bigint",
  activity: "bigint",
  confidence: "bigint",
  reliable: "smallint",
};

async function scoreAll(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  const scales = await readScales(tx);
  const newest = await newestSnapshots(tx);
  const rows = await sql<ScoredRow>`select g.*, r.created_at, r.pushed_at, r.availability from rollups g
    join repositories r on r.id = g.repository_id where ${dialect.among(sql`g.repository_id`, ids)}`.execute(
    tx,
  );
  await writeScores(
    tx,
    dialect,
    rows.rows.map((row) => scoreRow(row, scales, newest.get(row.provider) ?? row.to_at)),
  );
}

function scoreRow(row: ScoredRow, scales: ReadonlyMap<string, Scales>, asOf: number): BulkRow {
  const input = scoreInput(row, scales);
  const { trending, rising, newHot, starMomentum, forkMomentum, activity } = score(input);
  const anomalies: Anomaly[] = row.anomalies === null ? [] : JSON.parse(row.anomalies);
  const trust = confidence({
    window: input.window,
    windowHours: input.windowHours,
    coveredHours: input.coveredHours,
    behindHours: (asOf - row.to_at) / HOUR_MS,
    snapshots: row.snapshots,
    availability: row.availability as Availability,
    hasDoubtfulReading: anomalies.some((anomaly) => DOUBTFUL_KINDS.includes(anomaly.kind)),
  });
  const hundredths = (value: number | null) => (value === null ? null : Math.round(value * 100));
  return [
    row.repository_id,
    row.window_hours,
    hundredths(trending),
    hundredths(rising),
    hundredths(newHot),
    hundredths(starMomentum),
    hundredths(forkMomentum),
    hundredths(activity),
    hundredths(trust),
    trust >= RELIABLE_FROM ? 1 : 0,
  ];
}

async function writeScores(tx: Tx, dialect: Dialect, rows: readonly BulkRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(SCORE_COLUMNS).slice(2);
  const sets = sql.join(columns.map((name) => sql`${sql.ref(name)} = s.${sql.ref(name)}`));
  await sql`update rollups set ${sets} from (${dialect.rowsOf(SCORE_COLUMNS, rows)}) as s
    where rollups.repository_id = s.repository_id and rollups.window_hours = s.window_hours`.execute(tx);
}
