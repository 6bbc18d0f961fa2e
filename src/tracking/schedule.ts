/**
 * The schedule: which readings of repositories are due, and when the next ones are. A lane reads a row, sends its request, then reads the row
 * again in the transaction that records the response and saves the result of both. So lanes need no claims among each other, and a
 * kill leaves everything as due as before.
 */
import { type RawBuilder, sql } from "kysely";
import type { ForgeKind } from "../config/config.js";
import { bulkOf, type Database, type Db, type Dialect, readNumber, type Tx } from "../database/database.js";
import type { Provider, RepositoryRef } from "../forges/forges.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import { hasMissed, markOutdated, noteChanges } from "../repositories/repositories.js";
import { detailsInterval, LATEST_DETAILS_MS, LATEST_MS, spread } from "./cadence.js";
import type { WorkerLease } from "./lease.js";

/** A repository and the state of its schedule. Times in ms since 1970. */
export interface Tracked {
  readonly repositoryId: number;
  readonly provider: string;
  /** null: imported from an archive without it. */
  readonly providerId: string | null;
  readonly owner: string;
  readonly name: string;
  readonly availability: string;
  readonly stars: number | null;
  readonly forks: number | null;
  readonly openIssues: number | null;
  readonly watchers: number | null;
  readonly createdAt: number | null;
  readonly pushedAt: number | null;
  /** Time of its current counts. */
  readonly countedAt: number | null;
  readonly importSource: string | null;
  /** false: it is not on the schedule, and all else is empty. */
  readonly isScheduled: boolean;
  dueAt: number | null;
  /** Scheduled time between two refreshes, in ms, which also decides how long a reading is fresh. */
  refreshInterval: number | null;
  nodeId: string | null;
  etag: string | null;
  failures: number;
  /** Progress through its star history (null: not begun), and when its next page is due (null: complete). */
  historyCursor: string | null;
  historyDue: number | null;
  /** When its counts last fell doubtfully, and when they are read a second time. */
  doubtedAt: number | null;
  recheckAt: number | null;
  /** When its own record was read, and when it is due (null: never, as lists have all fields). */
  detailedAt: number | null;
  detailsDue: number | null;
  /** Since when its forge reports it missing, while that is not recorded. */
  missingSince: number | null;
}

/** Identifies a repository in a request. `etag`: for a conditional one. */
export function refOf(
  { providerId, nodeId, owner, name }: Pick<Tracked, "providerId" | "nodeId" | "owner" | "name">,
  etag: string | null = null,
): RepositoryRef {
  return { providerId: providerId ?? "", nodeId, fullName: `${owner}/${name}`, etag };
}

/** The columns of the table `tracking` besides the repository's id and provider, by field. */
const STATE = {
  nodeId: "node_id",
  etag: "etag",
  failures: "failures",
  historyCursor: "history_cursor",
  historyDue: "history_due",
  doubtedAt: "doubted_at",
  recheckAt: "recheck_at",
  detailedAt: "detailed_at",
  detailsDue: "details_due",
  missingSince: "missing_since",
} as const;
const STATE_FIELDS = Object.keys(STATE) as (keyof typeof STATE)[];

const OTHER_COLUMNS: Readonly<Record<keyof Omit<Tracked, "isScheduled" | keyof typeof STATE>, string>> = {
  repositoryId: "r.id",
  provider: "r.provider",
  providerId: "r.provider_id",
  owner: "r.owner",
  name: "r.name",
  availability: "r.availability",
  stars: "r.stars",
  forks: "r.forks",
  openIssues: "r.open_issues",
  watchers: "r.watchers",
  createdAt: "r.created_at",
  pushedAt: "r.pushed_at",
  countedAt: "r.counted_at",
  importSource: "r.import_source",
  dueAt: "r.next_refresh_at",
  refreshInterval: "r.refresh_interval",
};

const SELECTED = sql.join(
  [
    ...Object.entries(OTHER_COLUMNS),
    ...STATE_FIELDS.map((field) => [field, `t.${STATE[field]}`] as const),
  ].map(([field, column]) => sql`${sql.ref(column)} as ${sql.ref(field)}`),
);

type TrackedRow = Omit<Tracked, "isScheduled" | "failures"> & { failures: number | null };

async function select(db: Db, rest: RawBuilder<unknown>): Promise<Tracked[]> {
  const { rows } = await sql<TrackedRow>`select ${SELECTED} from repositories r
    left join tracking t on t.repository_id = r.id ${rest}`.execute(db);
  return rows.map((row) => ({ ...row, isScheduled: row.failures !== null, failures: Number(row.failures) }));
}

/** The repositories with these ids, or with these ids of a forge, that are in the catalogue. */
export function readTracked(
  db: Db,
  dialect: Dialect,
  which: { ids: readonly number[] } | { provider: string; providerIds: readonly string[] },
): Promise<Tracked[]> {
  const condition =
    "ids" in which
      ? dialect.among(sql.ref("r.id"), which.ids)
      : sql`r.provider = ${which.provider} and ${dialect.among(sql.ref("r.provider_id"), which.providerIds)}`;
  return select(db, sql`where ${condition}`);
}

/**
 * The columns of the due times of a repository: for a refresh, for a reading of its own record (lists keep counts fresh, but some have no
 * fields), for a second reading of doubtful counts, and for a page of its star history.
 */
const QUEUES = {
  refresh: { table: "repositories", alias: "r", column: "next_refresh_at", field: "dueAt", also: sql`` },
  details: { table: "tracking", alias: "t", column: "details_due", field: "detailsDue", also: sql`` },
  recheck: { table: "tracking", alias: "t", column: "recheck_at", field: "recheckAt", also: sql`` },
  history: {
    table: "tracking",
    alias: "t",
    column: "history_due",
    field: "historyDue",
    also: sql`and r.provider_id is not null and r.availability = 'AVAILABLE'`,
  },
} as const;
export type Queue = keyof typeof QUEUES;

/** Nothing is read about a repository that an operator has hidden. */
const SHOWN = sql`r.availability <> 'HIDDEN'`;

/** The repositories that are due at a time or earlier, those due longest first. */
export function due(
  db: Db,
  provider: string,
  { queue, at, limit }: { queue: Queue; at: number; limit: number },
): Promise<Tracked[]> {
  const { alias, column, also } = QUEUES[queue];
  const dueAt = sql.ref(`${alias}.${column}`);
  return select(
    db,
    sql`where ${sql.ref(`${alias}.provider`)} = ${provider} and ${dueAt} <= ${at} and t.repository_id is not null
      and ${SHOWN} ${also} order by ${dueAt} limit ${limit}`,
  );
}

export function countDue(
  db: Db,
  provider: string,
  { queue, at }: { queue: Queue; at: number },
): Promise<number> {
  const { alias, column, also } = QUEUES[queue];
  const select = sql`select count(*) from repositories r
    join tracking t on t.repository_id = r.id where ${sql.ref(`${alias}.provider`)} = ${provider}
      and ${sql.ref(`${alias}.${column}`)} <= ${at} and ${SHOWN} ${also}`;
  return readNumber(db, select);
}

export function dueAtOf(row: Tracked, queue: Queue): number | null {
  return row[QUEUES[queue].field];
}

export function nextDue(db: Db, provider: string, queue: Queue): Promise<number> {
  const { alias, column } = QUEUES[queue];
  const dueAt = sql.ref(`${alias}.${column}`);
  const select = sql`select ${dueAt} from repositories r left join tracking t on t.repository_id = r.id
    where ${sql.ref(`${alias}.provider`)} = ${provider} and ${dueAt} is not null and ${SHOWN} order by ${dueAt} limit 1`;
  return readNumber(db, select, Number.POSITIVE_INFINITY);
}

const TRACKING = bulkOf("tracking");
const DUE_TIMES = bulkOf("repositories", ["id", "next_refresh_at", "refresh_interval"]);

/** Saves the state of rows, in the transaction that read them. The last one of a repository wins. */
export async function saveTracked(tx: Tx, dialect: Dialect, rows: readonly Tracked[]): Promise<void> {
  if (rows.length === 0) return;
  const last = [...new Map(rows.map((row) => [row.repositoryId, row])).values()];
  await dialect.upsert(
    tx,
    TRACKING,
    last.map((row) => [row.repositoryId, row.provider, ...STATE_FIELDS.map((field) => row[field])]),
  );
  await dialect.updateRows(
    tx,
    DUE_TIMES,
    last.map((row) => [row.repositoryId, row.dueAt, row.refreshInterval]),
  );
  // Growth stops counting when a refresh has failed for too long, and counts again after the next one.
  const missed = last.filter(
    ({ countedAt, refreshInterval, dueAt }) =>
      countedAt !== null && hasMissed(countedAt, { refreshInterval, nextRefreshAt: dueAt }),
  );
  await markOutdated(tx, dialect, { rollups: missed.map(({ repositoryId }) => repositoryId) });
  await noteDue(
    tx,
    dialect,
    last.map(({ repositoryId }) => ({ id: repositoryId })),
  );
}

/** Announces that repositories are due at another time, which readers see. */
async function noteDue(tx: Tx, dialect: Dialect, rows: readonly { id: number }[]): Promise<void> {
  if (rows.length === 0) return;
  await noteChanges(
    tx,
    dialect,
    rows.map(({ id }) => Number(id)),
  );
}

/** Postpones repositories that could not be read, so that others come first. */
export async function postpone(
  lease: WorkerLease,
  dialect: Dialect,
  { ids, dueAt }: { ids: readonly number[]; dueAt: number },
): Promise<void> {
  await lease.write(async (tx) => {
    const rows = await readTracked(tx, dialect, { ids });
    const later = (at: number | null) => (at === null ? null : Math.max(at, dueAt));
    await saveTracked(
      tx,
      dialect,
      rows.map((row) => ({ ...row, dueAt, detailsDue: later(row.detailsDue) })),
    );
  });
}

export const FIRST_INTERVAL_MS = DAY_MS;

/** The part of a row that follows from reading the own record at `at`. `stretch`: see nextStretch. `chance`: from 0 to 1. */
export function afterOwnRecord(
  { listsAreComplete }: Pick<Provider, "listsAreComplete">,
  { at, stretch, chance }: { at: number; stretch: number; chance: number },
): Pick<Tracked, "detailedAt" | "detailsDue"> {
  return {
    detailedAt: at,
    detailsDue: listsAreComplete ? null : at + spread(detailsInterval(stretch), chance),
  };
}

/** When to read a star history that has not begun: only on GitHub, and of repositories with more stars first. */
export function historyDueOf(
  kind: ForgeKind,
  { historyCursor, historyDue }: Pick<Tracked, "historyCursor" | "historyDue">,
  { stars, now }: { stars: number; now: number },
): number | null {
  const mayBegin = kind === "github" && historyCursor === null;
  return mayBegin ? now - Math.min(stars, 1_000_000) * 1_000 : historyDue;
}

/** Schedules unscheduled repositories, such as imported ones, evenly over `spreadMs`. Returns how many. */
export async function enroll(
  { lease, database }: { lease: WorkerLease; database: Database },
  { name, kind }: Pick<Provider, "name" | "kind">,
  { now, spreadMs, limit }: { now: number; spreadMs: number; limit: number },
): Promise<number> {
  const { dialect, read } = database;
  const where = (most: number) =>
    sql`where r.provider = ${name} and r.next_refresh_at is null and ${SHOWN} limit ${most}`;
  if ((await select(read, where(1))).length === 0) return 0;
  return lease.write(async (tx) => {
    const rows = await select(tx, where(limit));
    const enrolled = rows.map((row, i) => ({
      ...row,
      dueAt: now + Math.round((i / rows.length) * spreadMs),
      refreshInterval: FIRST_INTERVAL_MS,
      historyDue: historyDueOf(kind, row, { stars: row.stars ?? 0, now }),
    }));
    await saveTracked(tx, dialect, enrolled);
    return rows.length;
  });
}

/** Repositories that a walk makes due at most, so that a list with gaps does not become a refresh of everything. */
const MAX_MISSED = 10_000;

/**
 * Makes repositories due within a day that a complete walk should have listed and that nothing has read since `seenAfter`: the forge may
 * have deleted or hidden them. Evenly over the day, in the order of their ids.
 */
export async function recheckMissed(
  lease: WorkerLease,
  { name, settings }: Pick<Provider, "name" | "settings">,
  { dialect, seenAfter, now }: { dialect: Dialect; seenAfter: number; now: number },
): Promise<void> {
  await lease.write(async (tx) => {
    const { rows } = await sql<{
      id: number;
    }>`update repositories set next_refresh_at = ${now} + (id % 1440) * 60000
      where id in (select id from repositories where provider = ${name} and availability = 'AVAILABLE'
        and stars >= ${settings.minStars} and counted_at < ${seenAfter} and next_refresh_at > ${now + DAY_MS}
        order by id limit ${MAX_MISSED}) returning id`.execute(tx);
    await noteDue(tx, dialect, rows);
  });
}

/** Nothing is scheduled further ahead: a later time was written while the clock was wrong. */
const FURTHEST_MS = LATEST_MS + DAY_MS;
const FURTHEST_DETAILS_MS = LATEST_DETAILS_MS + WEEK_MS;

/** Makes repositories due whose times are too far ahead. */
export async function repairTimes(
  lease: WorkerLease,
  provider: string,
  { dialect, now }: { dialect: Dialect; now: number },
): Promise<void> {
  await lease.write(async (tx) => {
    for (const [queue, { table, column }] of Object.entries(QUEUES)) {
      const furthest = now + (queue === "details" ? FURTHEST_DETAILS_MS : FURTHEST_MS);
      const id = sql.ref(table === "repositories" ? "id" : "repository_id");
      const { rows } = await sql<{ id: number }>`update ${sql.table(table)} set ${sql.ref(column)} = ${now}
        where provider = ${provider} and ${sql.ref(column)} > ${furthest} returning ${id} as id`.execute(tx);
      await noteDue(tx, dialect, rows);
    }
  });
}

/** The present form of GitHub's node ids, such as `R_kgDOAA`. The form before it is Base64 of words. */
const PRESENT_NODE_ID = /^[A-Z]{1,4}_/;

/**
 * The node id to keep of a repository: the one just sent, but never one of the old form instead of one of the present form. GitHub
 * promises the present form over GraphQL only, and its queries soon accept no other. Other forges send null.
 */
export function keptNodeId(known: string | null, sent: string | null): string | null {
  if (sent === null) return known;
  return known !== null && PRESENT_NODE_ID.test(known) && !PRESENT_NODE_ID.test(sent) ? known : sent;
}
