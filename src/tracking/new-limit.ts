/**
 * How many repositories the lists of a forge may add in a day (UTC): a forge that is broken or hostile can list repositories without
 * end. What is known is read as always; those beyond the limit are left out until a list shows them on a later day. The counts
 * are in the database, in the transaction that adds them, so that they hold for all workers and survive a restart.
 */
import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Db, Tx } from "../database/database.js";
import { newPerDayOf, type ProviderSettings } from "../forges.js";

/** What lists have shown on a day that was not known. */
export interface NewToday {
  added: number;
  /** Rows beyond the limit; a repository counts with every list that shows it. */
  surplus: number;
}

/** What lists have shown on the day of `at`. */
export async function readNewToday(
  db: Db,
  { provider, at }: { provider: string; at: number },
): Promise<NewToday> {
  const row = await db
    .selectFrom("new_days")
    .select(["added", "surplus"])
    .where("provider", "=", provider)
    .where("day", "=", dayOf(at))
    .executeTakeFirst();
  return { added: Number(row?.added ?? 0), surplus: Number(row?.surplus ?? 0) };
}

/** Of `count` new repositories on a list, how many may be added in this transaction; counts them and the rest. */
export async function admitNew(
  tx: Tx,
  { settings, at, count }: { settings: ProviderSettings; at: number; count: number },
): Promise<number> {
  if (count === 0) return 0;
  const provider = settings.name;
  const today = await readNewToday(tx, { provider, at });
  const added = Math.min(count, Math.max(0, newPerDayOf(settings) - today.added));
  await sql`insert into new_days (provider, day, added, surplus)
    values (${provider}, ${dayOf(at)}, ${added}, ${count - added})
    on conflict (provider, day) do update
    set added = new_days.added + excluded.added, surplus = new_days.surplus + excluded.surplus`.execute(tx);
  return added;
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
