import { type RawBuilder, sql } from "kysely";
import { type Database, type Db, deleteOld, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import {
  type EventDetail,
  type LoggedEvent,
  SECURITY_EVENTS,
  type SecurityEventName,
} from "./security-events.js";

/** How long events are kept. */
export const KEPT_MS = 180 * DAY_MS;
/** How many of the latest events are kept. */
const KEPT_ROWS: KeptRows = { anonymous: 100_000, account: 1_000 };
interface KeptRows {
  anonymous: number;
  /** Of each account; of its sign-ins, which later ones are compared with, and of all others. */
  account: number;
}

const SIGN_INS: readonly SecurityEventName[] = ["signed_in", "reauthenticated"];

/** Rows deleted in one transaction. */
const BATCH = 2_000;

/** A row with its id, which grows with the time it was written. */
export interface StoredEvent extends LoggedEvent {
  id: number;
}

export interface EventQuery {
  /** Only events of this account. */
  accountId?: string | undefined;
  /** Only events from this time on. */
  since?: number | undefined;
  /** Only events written before this one. */
  before?: number | undefined;
  limit: number;
}

/** Events, latest first. */
export async function readEvents(
  db: Db,
  { accountId, since, before, limit }: EventQuery,
): Promise<StoredEvent[]> {
  let query = db
    .selectFrom("security_events")
    .selectAll()
    // A newer version may have written events that this one does not know.
    .where("event", "in", SECURITY_EVENTS)
    .orderBy("id", "desc")
    .limit(limit);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (since !== undefined) query = query.where("at", ">=", since);
  if (before !== undefined) query = query.where("id", "<", before);
  const rows = await query.execute();
  return rows.flatMap(({ id, at, account_id: accountId, event, network, detail, times }) => {
    const name = SECURITY_EVENTS.find((known) => known === event);
    const facts: EventDetail = JSON.parse(detail);
    return name === undefined ? [] : [{ id, at, accountId, event: name, network, detail: facts, times }];
  });
}

/** Networks and details of all sign-ins of an account that are kept, each once. */
export async function readSignIns(
  db: Db,
  accountId: string,
): Promise<Pick<StoredEvent, "network" | "detail">[]> {
  const rows = await db
    .selectFrom("security_events")
    .select(["network", "detail"])
    .distinct()
    .where("account_id", "=", accountId)
    .where("event", "in", SIGN_INS)
    .execute();
  return rows.map(({ network, detail: text }) => {
    const detail: EventDetail = JSON.parse(text);
    return { network, detail };
  });
}

/** Number of rows of an account with one of these events, from the time `since` on. */
export async function countEvents(
  db: Db,
  { accountId, events, since }: { accountId: string; events: readonly SecurityEventName[]; since: number },
): Promise<number> {
  const { count } = await db
    .selectFrom("security_events")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .where("event", "in", events)
    .where("at", ">=", since)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertEvents(db: Db | Tx, events: readonly LoggedEvent[]): Promise<void> {
  const rows = events.map(({ accountId, detail, ...event }) => ({
    ...event,
    account_id: accountId,
    detail: JSON.stringify(detail),
  }));
  await db.insertInto("security_events").values(rows).execute();
}

/** Deletes events past their retention, or beyond their number, in short transactions until `signal` is aborted. Returns their number. */
export async function pruneEvents(
  { write }: Pick<Database, "write">,
  { now, signal, kept = KEPT_ROWS }: { now: number; signal: AbortSignal; kept?: KeptRows },
): Promise<number> {
  const before = now - KEPT_MS;
  let removed = await deleteOld(write, {
    table: "security_events",
    column: "at",
    before,
    batch: BATCH,
    signal,
  });
  const remove = async (ids: () => RawBuilder<unknown>) => {
    while (!signal.aborted) {
      const { numAffectedRows = 0n } = await sql`delete from security_events where id in (${ids()})`.execute(
        write,
      );
      removed += Number(numAffectedRows);
      if (numAffectedRows < BATCH) return;
    }
  };
  await remove(
    () => sql`select id from (select id from security_events where account_id is null order by id desc
      limit ${BATCH} offset ${kept.anonymous}) as excess`,
  );
  await remove(
    () => sql`select id from (select id, row_number() over (
        partition by account_id, case when event in (${sql.join(SIGN_INS)}) then 1 else 0 end order by id desc) as age
      from security_events where account_id in (select account_id from security_events
        where account_id is not null group by account_id having count(*) > ${kept.account}))
      as aged where age > ${kept.account} limit ${BATCH}`,
  );
  return removed;
}
