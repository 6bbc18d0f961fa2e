/** The requests that a worker would send now, and why. Only reads the database: requests and changes nothing. */
import { sql } from "kysely";
import { readNumber } from "../database/database.js";
import type { Provider } from "../forges/forges.js";
import { type Gain, readGains, windowOfHours } from "../growth/growth.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { failuresOf } from "../repositories/repositories.js";
import type { TrackingModules } from "./lane.js";
import { countDueRequests, nextWanted } from "./requests/wanted.js";
import { countDue, due, dueAtOf, nextDue, type Queue, type Tracked } from "./schedule.js";

interface PlannedRequest {
  fullName: string;
  /** The provider's id; null: it is requested by name. */
  providerId: string | null;
  dueAt: number;
  why: string;
}

export interface PlannedWork {
  due: number;
  /** The first of them, in the order of requests. */
  first: PlannedRequest[];
  /** When the first one is due, in ms since 1970; null: none is planned. */
  nextAt: number | null;
}

export interface Plan {
  provider: string;
  batchSize: number;
  /** null: its lists are not walked. */
  walk: { isDue: boolean; nextAt: number | null; why: string } | null;
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

interface PlanContext {
  modules: TrackingModules;
  provider: Pick<Provider, "name" | "batchSize" | "settings">;
  now: number;
  limit: number;
}

/** Reads the plan of one provider. Counts rows, so it takes a moment for a large catalogue with much that is due. */
export async function readPlan(context: PlanContext): Promise<Plan> {
  const { modules, provider, now } = context;
  const { read } = modules.database;
  const isOnDemand = provider.settings.onDemand === true;
  const walk = await read
    .selectFrom("walks")
    .selectAll()
    .where("provider", "=", provider.name)
    .executeTakeFirst();
  const unscheduled = sql`select count(*) from repositories
    where provider = ${provider.name} and next_refresh_at is null`;
  return {
    provider: provider.name,
    batchSize: provider.batchSize,
    walk: isOnDemand ? null : walkOf(walk, now),
    refresh: await workOf(context, "refresh", whyRefresh),
    details: await workOf(context, "details", ({ detailedAt }) =>
      detailedAt === null
        ? "known from lists, which are incomplete"
        : "lists are incomplete, and its own record is a week old",
    ),
    recheck: await workOf(context, "recheck", () => "its counts fell doubtfully, so they are read again"),
    backfill: await workOf(context, "history", whyHistory),
    requests: await requestsOf(context),
    unscheduled: isOnDemand ? 0 : await readNumber(read, unscheduled),
  };
}

async function requestsOf({ modules, provider, now, limit }: PlanContext): Promise<PlannedWork> {
  const { read } = modules.database;
  const first = await nextWanted(read, provider.name, { now, limit, kind: "repositories" });
  return {
    ...(await countDueRequests(read, provider.name, now)),
    first: first.map(({ text, is_batch, repository_id, retry_at, requested_at }) => {
      const requested = is_batch === 1 ? "requested with others" : "requested";
      const why = repository_id === null ? requested : `${requested}; the next page of its star history`;
      const dueAt = retry_at >= requested_at && retry_at <= now ? retry_at : requested_at;
      return { fullName: text, providerId: null, dueAt, why };
    }),
  };
}

function walkOf(
  walk: { cursor: string | null; next_at: number } | undefined,
  now: number,
): NonNullable<Plan["walk"]> {
  if (walk === undefined)
    return { isDue: true, nextAt: null, why: "no walk has started yet; it begins at the first page" };
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
  queue: Queue,
  why: (row: Tracked, gains: readonly Gain[]) => string,
): Promise<PlannedWork> {
  const { read } = modules.database;
  const rows = await due(read, provider.name, { queue, at: now, limit });
  const ids = rows.map(({ repositoryId }) => repositoryId);
  const gains = await readGains(read, modules.database.dialect, ids);
  const nextAt = await nextDue(read, provider.name, queue);
  return {
    due: await countDue(read, provider.name, { queue, at: now }),
    first: rows.map((row) => ({
      fullName: `${row.owner}/${row.name}`,
      providerId: row.providerId,
      dueAt: dueAtOf(row, queue) ?? now,
      why: why(row, gains.get(row.repositoryId) ?? []),
    })),
    nextAt: Number.isFinite(nextAt) ? nextAt : null,
  };
}

function whyHistory({ historyCursor }: Tracked): string {
  const { failures } = failuresOf(historyCursor);
  if (failures > 0) return `its star history: ${retried(failures)}`;
  return historyCursor === null ? "its star history is not read yet" : "the next page of its star history";
}

const retried = (failures: number) =>
  `tried again after ${failures} ${failures === 1 ? "failure" : "failures"}`;

function whyRefresh(row: Tracked, gains: readonly Gain[]): string {
  const { missingSince, failures, countedAt, refreshInterval } = row;
  if (missingSince !== null) return "its forge reports it missing, which is not confirmed";
  if (failures > 0) return retried(failures);
  if (countedAt === null || refreshInterval === null) return "never read from its forge";
  const gaining = gains.find(({ starsDelta, forksDelta }) => starsDelta > 0 || (forksDelta ?? 0) > 0);
  const every = `every ${lengthOf(refreshInterval)}`;
  if (gaining !== undefined)
    return `${every}: ${gaining.starsDelta} stars gained in ${windowOfHours(gaining.windowHours)}`;
  return gains.length > 0 ? `${every}: no gain is known` : `${every}: its growth is not known yet`;
}

function lengthOf(ms: number): string {
  return ms < 2 * DAY_MS ? `${(ms / HOUR_MS).toFixed(1)} h` : `${(ms / DAY_MS).toFixed(1)} days`;
}
