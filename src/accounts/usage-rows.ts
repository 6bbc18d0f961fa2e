import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import {
  type BulkColumns,
  type BulkRow,
  type Database,
  DELETED_SHARE,
  type Dialect,
  type MergedTable,
  type Tx,
  type UsageCallerTable,
} from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { OTHER_AGENT } from "./agents.js";
import { OTHER, UsageSpan } from "./usage-span.js";
import type { KeyTally, TallyBounds, UsageTally } from "./usage-tally.js";

/**
 * Lengths of the sums stored side by side, so that a view of any period reads a few dozen rows. `keptDays` includes the current
 * day; a view of 90 days starts the day before.
 */
export const SPANS = [
  { hours: 1, keptDays: 3 },
  { hours: 6, keptDays: 9 },
  { hours: 24, keptDays: 91 },
] as const;
export type SpanHours = (typeof SPANS)[number]["hours"];

/** Entries and events of one transaction; each entry is up to three rows. On SQLite a transaction blocks responses. */
const ENTRIES_PER_WRITE = 200;
const ROWS_PER_STATEMENT = 2_000;
const KEYS_PER_PRUNE = 500;

const SPAN_KEY = ["key_id", "span_hours", "from_at"] as const;
const SPAN_COLUMNS: BulkColumns = { key_id: "bigint", span_hours: "bigint", from_at: "bigint" };

const ROUTES: MergedTable = {
  table: "usage_routes",
  columns: {
    ...SPAN_COLUMNS,
    method: "text",
    route: "text",
    outcome: "text",
    requests: "bigint",
    bytes: "bigint",
    micros: "bigint",
  },
  key: [...SPAN_KEY, "method", "route", "outcome"],
  sets: `requests = usage_routes.requests + excluded.requests, bytes = usage_routes.bytes + excluded.bytes,
    micros = usage_routes.micros + excluded.micros`,
};

const ALLOWANCES: MergedTable = {
  table: "usage_allowances",
  columns: { ...SPAN_COLUMNS, bucket: "text", allowance: "bigint", lowest: "bigint", lowest_at: "bigint" },
  key: [...SPAN_KEY, "bucket"],
  sets: `allowance = excluded.allowance,
    lowest_at = case when excluded.lowest < usage_allowances.lowest then excluded.lowest_at
      else usage_allowances.lowest_at end,
    lowest = case when excluded.lowest < usage_allowances.lowest then excluded.lowest
      else usage_allowances.lowest end`,
};

const CALLERS: MergedTable = {
  table: "usage_callers",
  columns: { ...SPAN_COLUMNS, kind: "text", name: "text", requests: "bigint", last_at: "bigint" },
  key: [...SPAN_KEY, "kind", "name"],
  sets: `requests = usage_callers.requests + excluded.requests,
    last_at = case when excluded.last_at > usage_callers.last_at then excluded.last_at
      else usage_callers.last_at end`,
};

/** One span of one key to write. */
interface Line {
  keyId: number;
  spanHours: number;
  fromAt: number;
  span: UsageSpan;
}

/** Part of a tally, by key. */
type Part = ReadonlyMap<number, KeyTally>;

/**
 * Moves a tally into the database, a part per transaction, so that several processes can count the same hour and requests are
 * served in between. If it throws, stored parts have left the tally and the rest is still there. Deleted keys are skipped.
 */
export async function writeUsage(database: Database, tally: UsageTally, bounds: TallyBounds): Promise<void> {
  const { dialect, write } = database;
  for (;;) {
    const part = tally.part(ENTRIES_PER_WRITE);
    if (part.size === 0) return;
    await write.transaction().execute((tx) => writePart({ tx, dialect, bounds }, part));
    tally.remove(part);
    await setImmediate();
  }
}

/** The transaction that writes a part. */
interface Writing {
  tx: Tx;
  dialect: Dialect;
  bounds: TallyBounds;
}

async function writePart(writing: Writing, part: Part): Promise<void> {
  const { tx, dialect } = writing;
  // Locked in a fixed order, so that processes writing the same keys cannot deadlock.
  const present = await sql<{ id: number }>`select id from api_keys
    where ${dialect.among(sql`id`, [...part.keys()])} order by id ${dialect.lockRow}`.execute(tx);
  const keys = new Set(present.rows.map(({ id }) => id));
  const lines = linesOf(part, keys);
  if (lines.length === 0) return;
  await dialect.merge(tx, ROUTES, lines.flatMap(routeRows));
  await dialect.merge(tx, ALLOWANCES, lines.flatMap(allowanceRows));
  await dialect.merge(tx, CALLERS, await callerRows(writing, lines));
  await addEvents(writing, part, keys);
}

function linesOf(part: Part, keys: ReadonlySet<number>): Line[] {
  const all = { addresses: Number.POSITIVE_INFINITY, agents: Number.POSITIVE_INFINITY };
  return [...part].flatMap(([keyId, { hours }]) => {
    if (!keys.has(keyId)) return [];
    return SPANS.flatMap(({ hours: spanHours }) => {
      const sums = new Map<number, UsageSpan>();
      for (const [hour, span] of hours) {
        const fromAt = (hour - (hour % spanHours)) * HOUR_MS;
        const sum = sums.get(fromAt) ?? new UsageSpan();
        sums.set(fromAt, sum);
        sum.absorb(span, all);
      }
      return [...sums].map(([fromAt, span]) => ({ keyId, spanHours, fromAt, span }));
    });
  });
}

function routeRows({ keyId, spanHours, fromAt, span }: Line): BulkRow[] {
  return [...span.routes.values()].map(({ outcome, method, route, requests, bytes, micros }) => {
    return [keyId, spanHours, fromAt, method ?? "", route, outcome, requests, bytes, micros];
  });
}

function allowanceRows({ keyId, spanHours, fromAt, span }: Line): BulkRow[] {
  return [...span.allowances].map(([bucket, { limit, lowest, at }]) => [
    keyId,
    spanHours,
    fromAt,
    bucket,
    limit,
    lowest,
    at,
  ]);
}

type Stored = Pick<UsageCallerTable, "key_id" | "span_hours" | "from_at" | "kind" | "name">;

/** The rows of networks and families, within the bounds for stored ones. */
async function callerRows({ tx, dialect, bounds }: Writing, lines: readonly Line[]): Promise<BulkRow[]> {
  const keyOf = (keyId: number, spanHours: number, fromAt: number) => `${keyId} ${spanHours} ${fromAt}`;
  const spans = new Map(
    lines.map(({ keyId, spanHours, fromAt }) => [keyOf(keyId, spanHours, fromAt), new UsageSpan()]),
  );
  // Only rows of the same spans, so that this reads no more than is written.
  const ofSpans = SPANS.map(({ hours }) => {
    let first = Number.MAX_SAFE_INTEGER;
    for (const { spanHours, fromAt } of lines) if (spanHours === hours) first = Math.min(first, fromAt);
    return sql`(span_hours = ${hours} and from_at >= ${first})`;
  });
  const ids = dialect.among(
    sql`key_id`,
    lines.map(({ keyId }) => keyId),
  );
  const { rows: stored } = await sql<Stored>`select key_id, span_hours, from_at, kind, name from usage_callers
    where ${ids} and (${sql.join(ofSpans, sql` or `)})`.execute(tx);
  for (const { key_id, span_hours, from_at, kind, name } of stored) {
    const kinds = kind === "agent" ? "agents" : "addresses";
    spans
      .get(keyOf(key_id, span_hours, from_at))
      ?.see(kinds, { name, requests: 0, lastAt: 0 }, Number.POSITIVE_INFINITY);
  }
  return lines.flatMap(({ keyId, spanHours, fromAt, span }) => {
    const joined = spans.get(keyOf(keyId, spanHours, fromAt)) ?? new UsageSpan();
    const rows = (kind: "address" | "agent", other: string): BulkRow[] => {
      const kinds = kind === "agent" ? "agents" : "addresses";
      // Add "other" last: it must not take the room of a named one.
      const named = [...span[kinds]].sort(([a], [b]) => Number(a === other) - Number(b === other));
      for (const [name, seen] of named) joined.see(kinds, { name, ...seen }, bounds[kinds]);
      return [...joined[kinds]]
        .filter(([, { requests }]) => requests > 0)
        .map(([name, { requests, lastAt }]) => [keyId, spanHours, fromAt, kind, name, requests, lastAt]);
    };
    return [...rows("address", OTHER), ...rows("agent", OTHER_AGENT)];
  });
}

/** Adds errors and rate-limited requests, and deletes all but the latest of each key. */
async function addEvents(
  { tx, dialect, bounds }: Writing,
  part: Part,
  keys: ReadonlySet<number>,
): Promise<void> {
  const rows = [...part].flatMap(([key_id, { errors, blocks }]) =>
    keys.has(key_id) ? [...errors, ...blocks].map((event) => ({ key_id, ...event })) : [],
  );
  for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT)
    await tx
      .insertInto("usage_events")
      .values(rows.slice(i, i + ROWS_PER_STATEMENT))
      .execute();
  if (rows.length === 0) return;
  const ids = [...new Set(rows.map(({ key_id }) => key_id))];
  await sql`delete from usage_events where id in (select id from (
      select id, row_number() over (partition by key_id, case when status = 429 then 1 else 0 end
        order by at desc, id desc) as age
      from usage_events where ${dialect.among(sql`key_id`, ids)}) as aged where age > ${bounds.events})`.execute(
    tx,
  );
}

/**
 * Deletes rows past their retention, some keys at a time, until all are done or `signal` is aborted: of the sums of a key the oldest, of
 * at most DELETED_SHARE of the time that they are kept. Returns the number of rows.
 */
export async function pruneUsage(database: Database, now: number, signal: AbortSignal): Promise<number> {
  const { dialect } = database;
  const dayBefore = (days: number) => (Math.floor(now / DAY_MS) - days + 1) * DAY_MS;
  const firstDay = dayBefore(Math.max(...SPANS.map(({ keptDays }) => keptDays)));
  let after = 0;
  let removed = 0;
  const count = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => {
    removed += Number(numAffectedRows);
  };
  while (!signal.aborted) {
    const last = await database.write.transaction().execute(async (tx) => {
      const { rows } = await sql<{ id: number }>`select id from api_keys where id > ${after} order by id
        limit ${KEYS_PER_PRUNE} ${dialect.lockRow}`.execute(tx);
      const ids = rows.map(({ id }) => id);
      for (const table of ["usage_routes", "usage_allowances", "usage_callers"] as const) {
        const sums = sql.table(table);
        for (const { hours, keptDays } of SPANS) {
          const mostMs = Math.ceil(keptDays * DELETED_SHARE) * DAY_MS;
          const statement = sql`delete from ${sums} where ${dialect.among(sql`key_id`, ids)}
            and span_hours = ${hours} and from_at < ${dayBefore(keptDays)} and from_at < ${mostMs} + (
              select min(from_at) from ${sums} as own where own.key_id = ${sums}.key_id and span_hours = ${hours})`;
          count(await statement.execute(tx));
        }
      }
      // There are few of each key.
      const statement = sql`delete from usage_events where ${dialect.among(sql`key_id`, ids)} and at < ${firstDay}`;
      count(await statement.execute(tx));
      return ids.at(-1);
    });
    if (last === undefined) return removed;
    after = last;
  }
  return removed;
}
