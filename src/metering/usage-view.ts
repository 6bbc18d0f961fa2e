import { type RawBuilder, sql } from "kysely";
import { HOUR_MS } from "../clock.js";
import type { Db } from "../database/database.js";
import { AppError } from "../errors.js";
import { BUCKETS, type Bucket } from "../limit-config.js";
import { OTHER_AGENT } from "./agents.js";
import type { SpanHours } from "./usage-rows.js";
import { OTHER } from "./usage-tally.js";

/**
 * How far back a view reaches, and the length of its steps, which are aligned to UTC. The step in which the period begins is
 * shown whole, so a view covers at least its period.
 */
const PERIODS = {
  "24h": { hours: 24, spanHours: 1 },
  "7d": { hours: 168, spanHours: 6 },
  "30d": { hours: 720, spanHours: 24 },
  "90d": { hours: 2_160, spanHours: 24 },
} as const satisfies Record<string, { hours: number; spanHours: SpanHours }>;
export type UsagePeriod = keyof typeof PERIODS;
export const USAGE_PERIODS = ["24h", "7d", "30d", "90d"] as const satisfies readonly UsagePeriod[];

const MAX_ENDPOINTS = 20;
const MAX_ADDRESSES = 50;
const MAX_AGENTS = 20;

/** Errors are statuses from 400 on, but for 429; blocked are those. */
export interface UsageSums {
  requests: number;
  errors: number;
  blocked: number;
  /** Of bodies, as they were sent. */
  bytes: number;
}

export interface EndpointUsage extends UsageSums {
  /** Null for all that are not told apart. */
  method: string | null;
  /** The path pattern, or `other`. */
  route: string;
  /** Mean time to answer, of those that were not blocked; null: all were. */
  meanMs: number | null;
}

/** An error or a refusal. */
export interface FailedRequest {
  at: number;
  method: string | null;
  route: string;
  status: number;
  code: string | null;
  bucket: string | null;
  /** What was requested: decoded, without its query and tokens. */
  path: string | null;
}

/** What a key was used for in a period. Times are ms since 1970. */
export interface UsageView {
  keyId: number;
  period: UsagePeriod;
  from: number;
  to: number;
  stepMs: number;
  totals: UsageSums & {
    /** Networks that were told apart. */
    addresses: number;
    /** Whether there were no more than those. */
    addressesIsExact: boolean;
  };
  /** One row a step, oldest first; steps without a request too. */
  series: (UsageSums & { at: number })[];
  /** Those with most requests. */
  endpoints: EndpointUsage[];
  /** The buckets the key was counted in: the fewest requests that were left, and when. */
  pressure: { bucket: Bucket; limit: number; lowestRemaining: number; at: number }[];
  /** Newest first. */
  recentErrors: FailedRequest[];
  recentBlocks: FailedRequest[];
  /** Networks, the last seen first. */
  addresses: { address: string; requests: number; lastSeenAt: number }[];
  /** Families, the most used first, with all others as one. */
  agents: { family: string; requests: number }[];
}

/** Reads what is stored of a key. Throws NOT_FOUND for one that the account does not have; a revoked one is had. */
export async function readUsage(
  db: Db,
  accountId: string,
  keyId: number,
  period: UsagePeriod,
  now: number,
): Promise<UsageView> {
  const key = await db
    .selectFrom("api_keys")
    .select("id")
    .where("id", "=", keyId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (key === undefined) throw new AppError("NOT_FOUND", "There is no such key.");
  const { hours, spanHours } = PERIODS[period];
  const stepMs = spanHours * HOUR_MS;
  const current = Math.floor(now / stepMs);
  const steps = hours / spanHours + 1;
  const from = (current - steps + 1) * stepMs;
  const within = { keyId, spanHours, from };
  const [sums, callers] = [await readRoutes(db, within, stepMs, steps), await readCallers(db, within)];
  return {
    keyId,
    period,
    from,
    to: now,
    stepMs,
    totals: { ...sums.totals, ...callers.totals },
    series: sums.series,
    endpoints: sums.endpoints,
    pressure: await readPressure(db, within),
    ...(await readEvents(db, keyId, from)),
    addresses: callers.addresses,
    agents: callers.agents,
  };
}

interface Within {
  keyId: number;
  spanHours: SpanHours;
  from: number;
}

/** The rows of a table of spans that a view is made of. */
function isWithin({ keyId, spanHours, from }: Within): RawBuilder<boolean> {
  return sql<boolean>`(key_id = ${keyId} and span_hours = ${spanHours} and from_at >= ${from})`;
}

/** Sums of a span, or of a route. */
type RouteRow = { outcome: string; requests: number; bytes: number; micros: number } & (
  | { from_at: number; route: null }
  | { from_at: null; route: string }
);

const SUMMED = sql.raw("sum(requests) as requests, sum(bytes) as bytes, sum(micros) as micros");

async function readRoutes(
  db: Db,
  within: Within,
  stepMs: number,
  steps: number,
): Promise<{ totals: UsageSums; series: UsageView["series"]; endpoints: EndpointUsage[] }> {
  // Summed by the database, and in one statement, so that a write between cannot make the sums differ.
  const { rows } = await sql<RouteRow>`
    select from_at, null as route, outcome, ${SUMMED} from usage_routes where ${isWithin(within)}
    group by from_at, outcome
    union all
    select null, route, outcome, ${SUMMED} from usage_routes where ${isWithin(within)}
    group by route, outcome`.execute(db);
  const totals = noSums();
  const series = Array.from({ length: steps }, (_, i) => ({ at: within.from + i * stepMs, ...noSums() }));
  const routes = new Map<string, UsageSums & { micros: number }>();
  for (const row of rows) {
    if (row.route === null) {
      const step = series[Math.floor((row.from_at - within.from) / stepMs)];
      for (const sums of step === undefined ? [totals] : [totals, step]) addRow(sums, row);
      continue;
    }
    const endpoint = routes.get(row.route) ?? { ...noSums(), micros: 0 };
    routes.set(row.route, endpoint);
    addRow(endpoint, row);
    // A refusal takes no time worth telling, and would make the rest look fast.
    if (row.outcome !== "blocked") endpoint.micros += row.micros;
  }
  const endpoints = [...routes]
    .map(([name, { micros, ...sums }]) => {
      const answered = sums.requests - sums.blocked;
      const meanMs = answered === 0 ? null : Math.round(micros / answered) / 1_000;
      return { ...namedRoute(name), ...sums, meanMs };
    })
    .sort((a, b) => b.requests - a.requests || compare(a.route, b.route) || compare(a.method, b.method))
    .slice(0, MAX_ENDPOINTS);
  return { totals, series, endpoints };
}

async function readCallers(db: Db, within: Within) {
  const rows = await db
    .selectFrom("usage_callers")
    .select(({ fn }) => [
      "kind",
      "name",
      fn.sum<number>("requests").as("requests"),
      fn.max("last_at").as("lastSeenAt"),
    ])
    .where(isWithin(within))
    .groupBy(["kind", "name"])
    .execute();
  const [networks, families] = ["address", "agent"].map((kind) => rows.filter((row) => row.kind === kind));
  const told = (networks ?? []).filter(({ name }) => name !== OTHER);
  return {
    totals: { addresses: told.length, addressesIsExact: told.length === networks?.length },
    addresses: (networks ?? [])
      .map(({ name, requests, lastSeenAt }) => ({ address: name, requests, lastSeenAt }))
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt || compare(a.address, b.address))
      .slice(0, MAX_ADDRESSES),
    agents: mostUsed((families ?? []).map(({ name, requests }) => ({ family: name, requests }))),
  };
}

/** The families with most requests, and all others as one, so that together they are all requests. */
function mostUsed(families: readonly UsageView["agents"][number][]): UsageView["agents"] {
  const byRequests = (a: UsageView["agents"][number], b: UsageView["agents"][number]) =>
    b.requests - a.requests || compare(a.family, b.family);
  const most = families
    .filter(({ family }) => family !== OTHER_AGENT)
    .sort(byRequests)
    .slice(0, MAX_AGENTS);
  const sum = (rows: UsageView["agents"]) => rows.reduce((total, { requests }) => total + requests, 0);
  const others = sum([...families]) - sum(most);
  return others === 0 ? most : [...most, { family: OTHER_AGENT, requests: others }].sort(byRequests);
}

async function readPressure(db: Db, within: Within): Promise<UsageView["pressure"]> {
  const rows = await db
    .selectFrom("usage_allowances")
    .select(["bucket", "allowance", "lowest", "lowest_at"])
    .where(isWithin(within))
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

async function readEvents(
  db: Db,
  keyId: number,
  from: number,
): Promise<{ recentErrors: FailedRequest[]; recentBlocks: FailedRequest[] }> {
  const rows = await db
    .selectFrom("usage_events")
    .select(["at", "route", "status", "code", "bucket", "path"])
    .where("key_id", "=", keyId)
    .where("at", ">=", from)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .execute();
  const events = rows.map(({ route, ...row }) => ({ ...namedRoute(route), ...row }));
  return {
    recentErrors: events.filter(({ status }) => status !== 429),
    recentBlocks: events.filter(({ status }) => status === 429),
  };
}

function addRow(sums: UsageSums, { outcome, requests, bytes }: RouteRow): void {
  sums.requests += requests;
  sums.bytes += bytes;
  if (outcome === "blocked") sums.blocked += requests;
  else if (outcome === "4xx" || outcome === "5xx") sums.errors += requests;
}

function noSums(): UsageSums {
  return { requests: 0, errors: 0, blocked: 0, bytes: 0 };
}

/** Method and pattern, which are stored with a space between. */
function namedRoute(name: string): { method: string | null; route: string } {
  const [method = "", route] = name.split(" ");
  return route === undefined ? { method: null, route: name } : { method, route };
}

function compare(a: string | null, b: string | null): number {
  return (a ?? "") < (b ?? "") ? -1 : a === b ? 0 : 1;
}
