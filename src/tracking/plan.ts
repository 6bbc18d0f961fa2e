/** The requests that a worker would send now, and why. Only reads the database: requests, claims and changes nothing. */
import { type RawBuilder, sql } from "kysely";
import type { Provider } from "../forges/forges.js";
import { type Trend, WINDOWS } from "../growth/growth.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import type { TrackingModules } from "./lane.js";
import { TrackQueue } from "./requests/queue.js";

/** One repository that a worker would request. */
export interface PlannedRequest {
  fullName: string;
  /** The provider's id; null: it is requested by name. */
  providerId: string | null;
  /** In ms since 1970. */
  dueAt: number;
  why: string;
}

/** The work of one lane that is due. */
export interface PlannedWork {
  /** Number of repositories that are due. */
  due: number;
  /** The first of them, in the order of requests. */
  first: PlannedRequest[];
  /** When the first one is due, in ms since 1970; null: none is planned. */
  nextAt: number | null;
}

/** What is due at one forge. */
export interface Plan {
  provider: string;
  /** Number of repositories in one call of a refresh. */
  batchSize: number;
  walk: { isDue: boolean; nextAt: number | null; why: string };
  refresh: PlannedWork;
  /** Own records that are due although lists keep the counts fresh. */
  details: PlannedWork;
  recheck: PlannedWork;
  backfill: PlannedWork;
  /** Requests to track: lookups by name, and histories that follow them. */
  requests: PlannedWork;
  /** Repositories that are not on the schedule yet, such as imported ones; the worker adds them. */
  unscheduled: number;
}

export interface PlanContext {
  modules: TrackingModules;
  provider: Pick<Provider, "name" | "batchSize">;
  /** In ms since 1970. */
  now: number;
  /** Number of repositories listed per lane. */
  limit: number;
}

interface DueRow {
  id: number;
  provider_id: string | null;
  owner: string;
  name: string;
  due_at: number;
  counted_at: number | null;
  refresh_interval: number | null;
  failures: number;
  missing_since: number | null;
  detailed_at: number | null;
  history_cursor: string | null;
}

/** A lane's queue: its due time, and a further condition. */
interface Queue {
  dueAt: RawBuilder<number | null>;
  also?: RawBuilder<unknown>;
  why: (row: DueRow, trends: readonly Trend[]) => string;
}

const QUEUES: Readonly<Record<"refresh" | "details" | "recheck" | "backfill", Queue>> = {
  refresh: { dueAt: sql`r.next_refresh_at`, why: whyRefresh },
  details: {
    dueAt: sql`t.details_due`,
    why: ({ detailed_at }) =>
      detailed_at === null
        ? "known from lists, which lack fields"
        : "lists lack fields, and its own record is a week old",
  },
  recheck: { dueAt: sql`t.recheck_at`, why: () => "its counts fell doubtfully, so they are read again" },
  backfill: {
    dueAt: sql`t.history_due`,
    also: sql`r.provider_id is not null and r.availability = 'AVAILABLE'`,
    why: ({ history_cursor }) =>
      history_cursor === null ? "its star history is not read yet" : "the next page of its star history",
  },
};

/** Reads the plan of one provider. Counts rows, so it takes a moment for a large catalogue with much that is due. */
export async function readPlan(context: PlanContext): Promise<Plan> {
  const { modules, provider, now } = context;
  const { read } = modules.database;
  const walk = await read
    .selectFrom("walks")
    .selectAll()
    .where("provider", "=", provider.name)
    .executeTakeFirst();
  const { rows } = await sql<{ total: number }>`select count(*) as total from repositories
    where provider = ${provider.name} and next_refresh_at is null`.execute(read);
  return {
    provider: provider.name,
    batchSize: provider.batchSize,
    walk: walkOf(walk, now),
    refresh: await workOf(context, QUEUES.refresh),
    details: await workOf(context, QUEUES.details),
    recheck: await workOf(context, QUEUES.recheck),
    backfill: await workOf(context, QUEUES.backfill),
    requests: await requestsOf(context),
    unscheduled: Number(rows[0]?.total ?? 0),
  };
}

async function requestsOf({ modules, provider, now, limit }: PlanContext): Promise<PlannedWork> {
  const { due, first, nextAt } = await new TrackQueue(modules.database, provider.name).due(now, limit);
  return {
    due,
    first: first.map(({ fullName, isBatch, isRecorded, dueAt }) => {
      const requested = isBatch ? "requested with others" : "requested";
      const why = isRecorded ? `${requested}; the next page of its star history` : requested;
      return { fullName, providerId: null, dueAt, why };
    }),
    nextAt,
  };
}

function walkOf(
  walk: { cursor: string | null; next_at: number; leased_until: number } | undefined,
  now: number,
): Plan["walk"] {
  if (walk === undefined)
    return { isDue: true, nextAt: null, why: "no walk has started yet; it begins at the first page" };
  if (walk.leased_until > now) return { isDue: false, nextAt: null, why: "a worker is reading a page" };
  if (walk.cursor !== null)
    return { isDue: true, nextAt: null, why: "a walk is under way; its next page follows" };
  const isDue = walk.next_at <= now;
  return {
    isDue,
    nextAt: walk.next_at,
    why: isDue ? "the last walk is long enough ago" : "the last walk is recent",
  };
}

async function workOf(
  { modules, provider, now, limit }: PlanContext,
  { dueAt, also, why }: Queue,
): Promise<PlannedWork> {
  const { read } = modules.database;
  const from = sql`from repositories r join tracking t on t.repository_id = r.id
    where r.provider = ${provider.name} and t.provider = ${provider.name} ${also === undefined ? sql`` : sql`and ${also}`}`;
  const free = sql`t.leased_until <= ${now}`;
  const counted = await sql<{ total: number }>`select count(*) as total ${from} and ${dueAt} <= ${now}
    and ${free}`.execute(read);
  const next = await sql<{ at: number | null }>`select min(${dueAt}) as at ${from} and ${dueAt} is not null
    and ${free}`.execute(read);
  const { rows } =
    await sql<DueRow>`select r.id, r.provider_id, r.owner, r.name, ${dueAt} as due_at, r.counted_at,
      r.refresh_interval, t.failures, t.missing_since, t.detailed_at, t.history_cursor
    ${from} and ${dueAt} <= ${now} and ${free} order by ${dueAt} limit ${limit}`.execute(read);
  const ids = rows.map(({ id }) => id);
  const byWindow = await Promise.all(WINDOWS.map((window) => modules.rankings.trends(ids, window)));
  const at = next.rows[0]?.at ?? null;
  return {
    due: Number(counted.rows[0]?.total ?? 0),
    first: rows.map((row) => ({
      fullName: `${row.owner}/${row.name}`,
      providerId: row.provider_id,
      dueAt: Number(row.due_at),
      why: why(
        row,
        byWindow.flatMap((trends) => trends.get(row.id) ?? []),
      ),
    })),
    nextAt: at === null ? null : Number(at),
  };
}

function whyRefresh(row: DueRow, trends: readonly Trend[]): string {
  const { missing_since, failures, counted_at, refresh_interval } = row;
  if (missing_since !== null) return "its forge reports it missing, which is not confirmed";
  if (failures > 0) return `tried again after ${failures} ${failures === 1 ? "failure" : "failures"}`;
  if (counted_at === null || refresh_interval === null) return "never read from its forge";
  const gaining = trends.find(({ starsDelta, forksDelta }) => starsDelta > 0 || (forksDelta ?? 0) > 0);
  const every = `every ${lengthOf(refresh_interval)}`;
  if (gaining !== undefined) return `${every}: ${gaining.starsDelta} stars gained in ${gaining.window}`;
  return trends.length > 0 ? `${every}: no gain is known` : `${every}: its growth is not known yet`;
}

function lengthOf(ms: number): string {
  return ms < 2 * DAY_MS ? `${(ms / HOUR_MS).toFixed(1)} h` : `${(ms / DAY_MS).toFixed(1)} days`;
}
