/** What operators see of the accounts of others, and the deletion of one. */
import { sql } from "kysely";
import type { Config } from "../config/config.js";
import type { Database, Db } from "../database/database.js";
import { overlaps, readNetwork } from "../lib/host-names.js";

/** An account in the list of operators. */
export interface AccountRow {
  id: string;
  email: string;
  createdAt: number;
  /** The last use of a session or a key that is still stored; null: unknown. */
  seenAt: number | null;
  sessions: number;
  /** Active ones. */
  keys: number;
  passkeys: number;
  /** Repositories on its watchlist. */
  watched: number;
}

interface AccountQuery {
  /** A part of the address, or an id; empty: all. */
  text: string;
  /** Whether it is the whole address, or an id. */
  isWhole?: boolean;
  limit: number;
  now: number;
}

/** Accounts by address. Costs a scan of the accounts, as a part of an address has no index. */
export async function listAccounts(
  db: Db,
  { text, isWhole = false, limit, now }: AccountQuery,
): Promise<AccountRow[]> {
  const part = text
    .trim()
    .toLowerCase()
    .replace(/[\\%_]/g, "\\$&");
  const pattern = isWhole ? part : `%${part}%`;
  const { rows } = await sql<
    Record<Exclude<keyof AccountRow, "id" | "email">, string | number | null> & {
      id: string;
      email: string;
    }
  >`select id, email, created_at as "createdAt",
      (select count(*) from sessions where account_id = a.id) as sessions,
      (select count(*) from api_keys where account_id = a.id
        and (revoked_at is null or revoked_at > ${now})) as keys,
      (select count(*) from passkeys where account_id = a.id) as passkeys,
      (select count(*) from watchlist_items i join watchlists w on w.id = i.watchlist_id
        where w.account_id = a.id) as watched,
      (select max(at) from (select max(seen_at) as at from sessions where account_id = a.id
        union all select max(last_used_at) from api_keys where account_id = a.id) as uses) as "seenAt"
    from accounts a where email like ${pattern} escape '\\' or id = ${text.trim()}
    order by email limit ${limit}`.execute(db);
  return rows.map(({ id, email, createdAt, seenAt, ...counts }) => ({
    ...{ id, email, createdAt: new Date(createdAt ?? 0).getTime() },
    seenAt: seenAt === null ? null : Number(seenAt),
    sessions: Number(counts.sessions),
    keys: Number(counts.keys),
    passkeys: Number(counts.passkeys),
    watched: Number(counts.watched),
  }));
}

/** The account with an address or an id; undefined for none. */
export async function findAccount(db: Db, name: string, now: number): Promise<AccountRow | undefined> {
  return (await listAccounts(db, { text: name, isWhole: true, limit: 1, now }))[0];
}

/** The stored sessions of an account; without one those of everybody, and of operators without an account. */
export async function countSessions(db: Db, accountId: string | undefined): Promise<number> {
  const count =
    accountId === undefined
      ? sql`(select count(*) from sessions) + (select count(*) from operator_sessions)`
      : sql`(select count(*) from sessions where account_id = ${accountId})`;
  const { rows } = await sql<{ count: number | string }>`select ${count} as count`.execute(db);
  return Number(rows[0]?.count);
}

/** What an account has, in words. */
export function holdingWords({ sessions, keys, passkeys, watched }: AccountRow): string {
  return `sessions: ${sessions}, API keys: ${keys}, passkeys: ${passkeys}, watched repositories: ${watched}`;
}

/** Sessions of operators that began in a network, or in the larger one that is stored of an address in it. */
export async function countOperatorSessions(
  db: Db,
  { operators }: Pick<Config, "operators">,
  network: string,
): Promise<number> {
  const wanted = readNetwork(network);
  const { rows } = await sql<{ email: string; network: string | null }>`
    select a.email, s.ip_address as network from sessions s join accounts a on a.id = s.account_id`.execute(
    db,
  );
  return rows.filter(
    (row) => operators.includes(row.email) && wanted && overlaps(wanted, readNetwork(row.network ?? "")),
  ).length;
}

/** Deletes an account with everything that has its id or its address, but for its events. Revocations are left to the caller. */
export async function removeAccount(
  { durable }: Pick<Database, "durable">,
  { id, email }: { id: string; email: string },
): Promise<void> {
  await durable.transaction().execute(async (tx) => {
    await tx.deleteFrom("accounts").where("id", "=", id).execute();
    await tx.deleteFrom("sign_in_requests").where("email", "=", email).execute();
  });
}
