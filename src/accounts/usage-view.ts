import { type RawBuilder, sql } from "kysely";
import { BUCKETS } from "../config/config.js";
import type { Db, UsageRouteTable } from "../database/database.js";
import { HOUR_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";

/** The name of routes and of addresses that are counted together. */
export const OTHER = "other";
/** The family of unknown programs, and of those that are counted together. */
export const OTHER_AGENT = "Other";

/** Periods and their steps, aligned to UTC. The first step is complete, so a view covers at least its window. */
const WINDOWS = {
  "24h": { hours: 24, stepHours: 1 },
  "7d": { hours: 168, stepHours: 6 },
  "30d": { hours: 720, stepHours: 24 },
  "90d": { hours: 2_160, stepHours: 24 },
} as const;
export type UsageWindow = keyof typeof WINDOWS;
export const USAGE_WINDOWS = ["24h", "7d", "30d", "90d"] as const satisfies readonly UsageWindow[];

const MAX_ENDPOINTS = 20;
const MAX_ADDRESSES = 50;
const MAX_AGENTS = 20;

/** The usage of a key in a window. Times are ms since 1970. */
export type UsageView = Awaited<ReturnType<typeof readUsage>>;

/** Reads the stored usage of a key, which may be revoked. Throws NOT_FOUND for a key of another account. */
export async function readUsage(
  db: Db,
  { accountId, keyId, window, now }: { accountId: string; keyId: number; window: UsageWindow; now: number },
) {
  const key = await db
    .selectFrom("api_keys")
    .select("id")
    .where("id", "=", keyId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (key === undefined) throw new AppError("NOT_FOUND", "There is no such key.");
  const { hours, stepHours } = WINDOWS[window];
  const stepMs = stepHours * HOUR_MS;
  const steps = hours / stepHours + 1;
  const from = (Math.floor(now / stepMs) - steps + 1) * stepMs;
  const isWithin = sql<boolean>`(key_id = ${keyId} and from_at >= ${from})`;
  const series = Array.from({ length: steps }, (_, i) => ({ at: from + i * stepMs, ...noSums() }));
  const totals = noSums();
  const endpoints = new Map<string, UsageSums & { method: string | null; route: string; micros: number }>();
  const { rows } = await sql<UsageRouteTable & { step: number }>`
    select cast((from_at - ${from}) / ${stepMs} as integer) as step, method, route, outcome,
      sum(requests) as requests, sum(bytes) as bytes, sum(micros) as micros
    from usage_routes where ${isWithin} group by step, method, route, outcome`.execute(db);
  for (const row of rows) {
    const { method, route } = row;
    const key = `${method} ${route}`;
    const endpoint = endpoints.get(key) ?? { method: method || null, route, ...noSums(), micros: 0 };
    endpoints.set(key, endpoint);
    for (const sums of [totals, endpoint, series[row.step]]) if (sums !== undefined) addRow(sums, row);
    // Blocked requests take almost no time and would lower the mean.
    if (row.outcome !== "blocked") endpoint.micros += row.micros;
  }
  const { counted, addresses, agents } = await readCallers(db, isWithin);
  const events = await readEvents(db, keyId, from);
  return {
    keyId,
    window,
    from,
    to: now,
    stepMs,
    totals: { ...totals, ...counted },
    /** One row per step, oldest first, including steps without requests. */
    series,
    /** Those with the most requests. */
    endpoints: [...endpoints.values()]
      .map(({ micros, ...endpoint }) => {
        const timed = endpoint.requests - endpoint.blocked;
        // null if all were blocked.
        return { ...endpoint, meanMs: timed === 0 ? null : Math.round(micros / timed) / 1_000 };
      })
      .sort((a, b) => b.requests - a.requests || compare(a.route, b.route) || compare(a.method, b.method))
      .slice(0, MAX_ENDPOINTS),
    pressure: await readPressure(db, isWithin),
    recentErrors: events.filter(({ status }) => status !== 429),
    recentBlocks: events.filter(({ status }) => status === 429),
    addresses,
    agents,
  };
}

async function readCallers(db: Db, isWithin: RawBuilder<boolean>) {
  const rows = await db
    .selectFrom("usage_callers")
    .select(({ fn }) => [
      "kind",
      "name",
      fn.sum<number>("requests").as("requests"),
      fn.max("last_at").as("lastSeenAt"),
    ])
    .where(isWithin)
    .groupBy(["kind", "name"])
    .execute();
  const [addresses, families] = ["address", "agent"].map((kind) => rows.filter((row) => row.kind === kind));
  const named = (addresses ?? []).filter(({ name }) => name !== OTHER);
  return {
    /** Addresses that were counted separately; inexact if there were more. */
    counted: { addressCount: named.length, addressCountIsExact: named.length === addresses?.length },
    /** Most recently seen first. */
    addresses: (addresses ?? [])
      .map(({ name, requests, lastSeenAt }) => ({ address: name, requests, lastSeenAt }))
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt || compare(a.address, b.address))
      .slice(0, MAX_ADDRESSES),
    agents: mostUsed((families ?? []).map(({ name, requests }) => ({ family: name, requests }))),
  };
}

/** The families with the most requests; all others as one, so that the sum is complete. */
function mostUsed(families: readonly AgentUsage[]): AgentUsage[] {
  const byRequests = (a: AgentUsage, b: AgentUsage) => b.requests - a.requests || compare(a.family, b.family);
  const most = families
    .filter(({ family }) => family !== OTHER_AGENT)
    .sort(byRequests)
    .slice(0, MAX_AGENTS);
  const sum = (rows: readonly AgentUsage[]) => rows.reduce((total, { requests }) => total + requests, 0);
  const requests = sum(families) - sum(most);
  return requests === 0 ? most : [...most, { family: OTHER_AGENT, requests }].sort(byRequests);
}

interface AgentUsage {
  family: string;
  requests: number;
}

/** The lowest remaining count of each bucket the key used, and when. */
async function readPressure(db: Db, isWithin: RawBuilder<boolean>) {
  const rows = await db
    .selectFrom("usage_allowances")
    .select(["bucket", "allowance", "lowest", "lowest_at"])
    .where(isWithin)
    .orderBy("from_at")
    .execute();
  const buckets = Map.groupBy(rows, ({ bucket }) => bucket);
  return BUCKETS.flatMap((bucket) => {
    const [first, ...more] = buckets.get(bucket) ?? [];
    if (first === undefined) return [];
    const lowest = more.reduce((least, row) => (row.lowest < least.lowest ? row : least), first);
    const limit = (more.at(-1) ?? first).allowance;
    return [{ bucket, limit, lowestRemaining: lowest.lowest, at: lowest.lowest_at }];
  });
}

/** Errors and blocked requests, newest first. */
function readEvents(db: Db, keyId: number, from: number) {
  return db
    .selectFrom("usage_events")
    .select(["at", "method", "route", "status", "code", "bucket", "path"])
    .where("key_id", "=", keyId)
    .where("at", ">=", from)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .execute();
}

function compare(a: string | null, b: string | null): number {
  return (a ?? "") < (b ?? "") ? -1 : a === b ? 0 : 1;
}

/** `blocked` counts responses with 429; `errors` all others with 400 or more. */
interface UsageSums {
  requests: number;
  errors: number;
  blocked: number;
  /** Response bodies as sent. */
  bytes: number;
}

function addRow(
  sums: UsageSums,
  { outcome, requests, bytes }: { outcome: string; requests: number; bytes: number },
): void {
  sums.requests += requests;
  sums.bytes += bytes;
  if (outcome === "blocked") sums.blocked += requests;
  else if (outcome === "4xx" || outcome === "5xx") sums.errors += requests;
}

function noSums(): UsageSums {
  return { requests: 0, errors: 0, blocked: 0, bytes: 0 };
}
