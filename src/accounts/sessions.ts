import { sql } from "kysely";
import type { Db, Tx } from "../database/database.js";
import { cookieScope } from "../lib/base-url.js";
import { DAY_MS, HOUR_MS, systemClock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { hashToken } from "../lib/tokens.js";
import type { Source } from "./account-events.js";
import type { AccountsContext } from "./context.js";

/** The time that the sign-in library compares `expiresAt` with: it takes no clock. */
export const libraryNow = (): Date => new Date(systemClock.now());

/** How long after signing in a session may do things that a stolen one must not. */
export const RECENT_MINUTES = 15;

/**
 * Whether somebody signed in within the last 15 minutes, so that a session left open elsewhere is not enough. One that began under a
 * clock that was far ahead is not recent.
 */
export function isRecentSignIn({ sessionCreatedAt }: { sessionCreatedAt: number }): boolean {
  return Math.abs(libraryNow().getTime() - sessionCreatedAt) < RECENT_MINUTES * 60_000;
}

/** Throws REAUTHENTICATION_REQUIRED unless `isRecentSignIn`. */
export function requireRecentSignIn(session: { sessionCreatedAt: number }): void {
  if (!isRecentSignIn(session))
    throw new AppError(
      "REAUTHENTICATION_REQUIRED",
      `This needs a sign-in within the last ${RECENT_MINUTES} minutes. Sign in again, and repeat the request with the new session.`,
    );
}

/** Time without use after which a session has ended. */
const IDLE_MS = 14 * DAY_MS;
/** The last use of a session is written at most this often. */
const WRITE_INTERVAL_MS = HOUR_MS;

/** A session as its owner sees it. */
export interface Session {
  /** Not a secret: only its owner can use it. */
  id: string;
  createdAt: number;
  /** To the hour. */
  seenAt: number;
  expiresAt: number;
  /** The network in which it began; null if that was not recorded. */
  source: Source | null;
}

/** The browser or program that signs in. */
export interface Client {
  headers: { readonly cookie?: string | undefined };
  source: () => Source;
}

/**
 * The value the sign-in library gives a session cookie: 32 letters and digits, a dot, and 32 bytes of signature in Base64,
 * percent-encoded. The last digit of the signature has two unused bits, which are zero.
 */
const VALUE = /^[0-9A-Za-z]{32}\.(?:[0-9A-Za-z]|%2B|%2F){42}[AEIMQUYcgkosw048]%3D$/;

/**
 * The sessions of accounts, which the sign-in library creates. A session lasts 30 days, and ends after 14 days without use. Ended
 * sessions are refused immediately. Other processes that only count requests notice within five seconds, or as soon as
 * they receive the message.
 */
export class Sessions {
  constructor(private readonly context: AccountsContext) {}

  /**
   * The only session cookie in a Cookie header, as `name=value`. Undefined if there are several, or if it is not spelled as
   * issued: the library would accept many spellings of one session, and each would be looked up as if it were another one.
   */
  cookieIn(header: string | undefined): string | undefined {
    const name = this.#cookieName;
    if (!header?.includes(name)) return undefined;
    const pairs = header.split(";").map((pair) => pair.trim());
    const [own, ...others] = pairs.filter((pair) => pair.startsWith(`${name}=`));
    return own !== undefined && others.length === 0 && VALUE.test(own.slice(name.length + 1))
      ? own
      : undefined;
  }

  /** A cookie that removes the session from a browser. */
  get clearingCookie(): string {
    const { path, secure } = cookieScope(this.context.config.baseUrl);
    return `${this.#cookieName}=; Max-Age=0; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** Notes where the session that `cookies` set begins, and ends the client's earlier one. Returns the account of that one, if any. */
  async begin(cookies: readonly string[], client: Client): Promise<string | undefined> {
    const { database, revocations } = this.context;
    const [begun, earlier] = [this.#hashIn(cookieHeader(cookies)), this.#hashIn(client.headers.cookie)];
    if (begun === undefined) return undefined;
    const source = client.source();
    const endedOf = await database.durable.transaction().execute(async (tx) => {
      await sql`update sessions set ip_address = ${source.network}, user_agent = ${source.agent}
        where token_hash = ${begun}`.execute(tx);
      if (earlier === undefined) return undefined;
      const { rows } = await sql<{ account: string }>`
        delete from sessions where token_hash = ${earlier} returning account_id as account`.execute(tx);
      return rows[0]?.account;
    });
    if (endedOf !== undefined) await revocations.announce();
    return endedOf;
  }

  /** The sessions of an account that have not ended, the one used last first. */
  async list(accountId: string): Promise<Session[]> {
    const { rows } = await sql<{
      id: string;
      ip_address: string | null;
      user_agent: string | null;
      created_at: string | Date;
      expires_at: string | Date;
      seen_at: number;
    }>`
      select id, ip_address, user_agent, created_at, expires_at, seen_at from sessions
      where account_id = ${accountId} and ${isAlive()} order by seen_at desc, id`.execute(
      this.context.database.read,
    );
    return rows.map((row) => {
      const { id, ip_address: network, user_agent: agent } = row;
      const createdAt = new Date(row.created_at).getTime();
      // The library reads the clock for each of the two, so the second may be a millisecond before the first.
      const seenAt = Math.max(row.seen_at, createdAt);
      const source = network ? { network, agent: agent ?? "" } : null;
      return { id, createdAt, seenAt, expiresAt: new Date(row.expires_at).getTime(), source };
    });
  }

  /** Ends a session of an account. Returns false if it has none with this id. */
  async end(accountId: string, id: string): Promise<boolean> {
    return (await this.#end(sql`account_id = ${accountId} and id = ${id}`)) > 0;
  }

  /** Ends all sessions of an account but the given one. Returns their number. */
  endOthers(accountId: string, id: string): Promise<number> {
    return this.#end(sql`account_id = ${accountId} and id <> ${id}`);
  }

  /** Ends all sessions of an account. Returns their number. */
  endAll(accountId: string): Promise<number> {
    return this.#end(sql`account_id = ${accountId}`);
  }

  /** Records that a session is used. Requests do not wait for the write: if it fails, the next use tries again. False: it has ended. */
  recordUse({ id, seenAt }: { id: string; seenAt: number }): boolean {
    const now = libraryNow().getTime();
    // A use in the future, under a clock that was wrong, would keep it alive until then.
    if (Math.abs(now - seenAt) >= IDLE_MS) return false;
    if (now - seenAt < WRITE_INTERVAL_MS) return true;
    const write = () =>
      sql`update sessions set seen_at = ${now} where id = ${id} and seen_at <= ${now - WRITE_INTERVAL_MS}`.execute(
        this.context.database.write,
      );
    this.context.writes.add(write, "the last use of a session could not be recorded");
    return true;
  }

  /** Deletes sessions that have ended. Returns their number. */
  removeExpired(): Promise<number> {
    return endSessions(this.context.database.durable, sql`not (${isAlive()})`);
  }

  async #end(which: Condition): Promise<number> {
    const ended = await endSessions(this.context.database.durable, which);
    // Only if something ended, as this discards all cached sessions and keys.
    if (ended > 0) await this.context.revocations.announce();
    return ended;
  }

  /** The hash of the session token in a Cookie header. */
  #hashIn(cookie: string | undefined): string | undefined {
    const token = this.cookieIn(cookie)?.split("=")[1]?.split(".")[0];
    return token === undefined ? undefined : hashToken(token);
  }

  get #cookieName(): string {
    return `${cookieScope(this.context.config.baseUrl).prefix}sidereal.session_token`;
  }
}

type Condition = ReturnType<typeof sql<unknown>>;

/** Deletes sessions. Returns their number. */
export async function endSessions(db: Db | Tx, which: Condition): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from sessions where ${which}`.execute(db);
  return Number(numAffectedRows);
}

function isAlive(): Condition {
  const now = libraryNow();
  return sql`expires_at > ${now.toISOString()} and seen_at > ${now.getTime() - IDLE_MS}`;
}

/** The Cookie header that a browser sends after these Set-Cookie headers. */
export function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(";")[0] ?? "").join("; ");
}
