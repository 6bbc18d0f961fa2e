/** The stored usage of API keys: sums by hour, and the latest errors and blocked requests. */
import { sql } from "kysely";
import {
  type Database,
  DELETED_SHARE,
  deleteOld,
  type UsageAllowanceTable,
  type UsageCallerTable,
  type UsageEventTable,
  type UsageRouteTable,
} from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";

/** Errors kept of each key, and as many blocked requests. */
export const MAX_EVENTS = 25;

/** Days that usage is kept, including the current one; a view of 90 days starts the day before. Addresses are kept for 30 days. */
const KEPT_DAYS = 91;
const ADDRESS_KEPT_DAYS = 31;
const KEYS_PER_PRUNE = 500;

/** An error or a blocked request. */
export type UsageEvent = Omit<UsageEventTable, "id" | "key_id">;

/** Rows to add to the stored ones. No two rows of sums have the same key. */
export interface UsageRows {
  routes: UsageRouteTable[];
  allowances: UsageAllowanceTable[];
  callers: UsageCallerTable[];
  events: (UsageEvent & { key_id: number })[];
}

/** Adds rows to the stored ones in one transaction. Other processes may add to the same hours. Rows of deleted keys are skipped. */
export async function writeUsage({ dialect, write }: Database, rows: UsageRows): Promise<void> {
  const ids = Object.values(rows).flatMap((some) => some.map(({ key_id }: { key_id: number }) => key_id));
  await write.transaction().execute(async (tx) => {
    // Locked in a fixed order, so that processes writing the same keys cannot deadlock.
    const { rows: present } = await sql<{ id: number }>`select id from api_keys
      where ${dialect.among(sql`id`, [...new Set(ids)])} order by id ${dialect.lockRow}`.execute(tx);
    const keys = new Set(present.map(({ id }) => id));
    const known = <Row extends { key_id: number }>(some: Row[]) =>
      some.filter(({ key_id }) => keys.has(key_id));
    const [routes, allowances, callers] = [known(rows.routes), known(rows.allowances), known(rows.callers)];
    const events = known(rows.events);
    if (routes.length > 0)
      await tx
        .insertInto("usage_routes")
        .values(routes)
        .onConflict((conflict) =>
          conflict.columns(["key_id", "from_at", "method", "route", "outcome"]).doUpdateSet({
            requests: sql`usage_routes.requests + excluded.requests`,
            bytes: sql`usage_routes.bytes + excluded.bytes`,
            micros: sql`usage_routes.micros + excluded.micros`,
          }),
        )
        .execute();
    if (allowances.length > 0) {
      const isLower = sql`excluded.lowest < usage_allowances.lowest`;
      await tx
        .insertInto("usage_allowances")
        .values(allowances)
        .onConflict((conflict) =>
          conflict.columns(["key_id", "from_at", "bucket"]).doUpdateSet({
            allowance: sql`excluded.allowance`,
            lowest_at: sql`case when ${isLower} then excluded.lowest_at else usage_allowances.lowest_at end`,
            lowest: sql`case when ${isLower} then excluded.lowest else usage_allowances.lowest end`,
          }),
        )
        .execute();
    }
    if (callers.length > 0)
      await tx
        .insertInto("usage_callers")
        .values(callers)
        .onConflict((conflict) =>
          conflict.columns(["key_id", "from_at", "kind", "name"]).doUpdateSet({
            requests: sql`usage_callers.requests + excluded.requests`,
            last_at: sql`case when excluded.last_at > usage_callers.last_at then excluded.last_at
              else usage_callers.last_at end`,
          }),
        )
        .execute();
    if (events.length === 0) return;
    await tx.insertInto("usage_events").values(events).execute();
    const failing = [...new Set(events.map(({ key_id }) => key_id))];
    await sql`delete from usage_events where id in (select id from (
        select id, row_number() over (partition by key_id, case when status = 429 then 1 else 0 end
          order by at desc, id desc) as age
        from usage_events where ${dialect.among(sql`key_id`, failing)}) as aged
      where age > ${MAX_EVENTS})`.execute(tx);
  });
}

/**
 * Deletes rows past their retention, some keys at a time, until all are done or `signal` is aborted: of each key the oldest, of at
 * most DELETED_SHARE of the time that they are kept. Returns the number of rows.
 */
export async function pruneUsage({ write }: Database, now: number, signal: AbortSignal): Promise<number> {
  const dayBefore = (days: number) => (Math.floor(now / DAY_MS) - days + 1) * DAY_MS;
  const oldest = { table: "usage_events", column: "at", before: dayBefore(KEPT_DAYS), signal } as const;
  let removed = await deleteOld(write, oldest);
  for (let after = 0; !signal.aborted; ) {
    const { rows } = await sql<{ id: number }>`select id from api_keys where id > ${after} order by id
      limit ${KEYS_PER_PRUNE}`.execute(write);
    const last = rows.at(-1);
    if (last === undefined) break;
    const isOfThese = sql`key_id > ${after} and key_id <= ${last.id}`;
    for (const [name, keptDays, which] of [
      ["usage_routes", KEPT_DAYS, sql`1 = 1`],
      ["usage_allowances", KEPT_DAYS, sql`1 = 1`],
      ["usage_callers", KEPT_DAYS, sql`kind = 'agent'`],
      ["usage_callers", ADDRESS_KEPT_DAYS, sql`kind = 'address'`],
    ] as const) {
      const table = sql.table(name);
      const mostMs = Math.ceil(keptDays * DELETED_SHARE) * DAY_MS;
      const { numAffectedRows = 0n } = await sql`delete from ${table} where ${isOfThese} and ${which}
        and from_at < ${dayBefore(keptDays)} and from_at < ${mostMs} + (
          select min(from_at) from ${table} as own where own.key_id = ${table}.key_id and ${which})`.execute(
        write,
      );
      removed += Number(numAffectedRows);
    }
    after = last.id;
  }
  return removed;
}
