import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Database, Db } from "../database/database.js";

/** Leases last minutes, and repositories are due within weeks; anything later comes from a clock that was wrong. */
const LEASE_MS = DAY_MS;
const DUE_MS = 100 * DAY_MS;
const NAMED = 100;

/** Finds repositories that no worker would refresh for too long. */
export async function checkSchedule(db: Db, now: number, onWrong: (found: string) => void): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select repository_id as id from tracking where leased_until > ${now + LEASE_MS}
    union select id from repositories where next_refresh_at > ${now + DUE_MS} limit ${NAMED}`.execute(db);
  for (const { id } of rows) onWrong(`repository ${id}`);
}

/** Makes them due now. */
export async function reschedule({ dialect, write }: Database, now: number): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await sql`update tracking set leased_until = 0 where leased_until > ${now + LEASE_MS}`.execute(tx);
    await sql`update repositories set next_refresh_at = ${now} where next_refresh_at > ${now + DUE_MS}`.execute(
      tx,
    );
  });
}
