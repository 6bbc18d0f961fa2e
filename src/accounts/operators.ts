import { sql } from "kysely";
import type { Config } from "../config/config.js";
import { type Database, writeDocument } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { type PageCookie, readCookie } from "../lib/cookies.js";
import { AppError } from "../lib/errors.js";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import { insertEvent } from "./account-events.js";
import { addressesOf, findAccountId } from "./addresses.js";
import type { AccountsContext } from "./context.js";
import { isLoopback } from "./origin.js";
import { endSessions, isRecentSignIn } from "./sessions.js";

/** Somebody who operates the service: the owner of a listed account, or a browser that has opened an address with a key. */
export interface Operator {
  /** null: without an account. */
  accountId: string | null;
  /** Whether the sign-in is recent enough to change secrets. */
  isRecent: boolean;
}

/** The sender of a request, by which operators are recognized. */
interface Visitor {
  /** The signed-in account, whose address is proven. */
  account: { id: string; email: string; sessionCreatedAt: number } | undefined;
  /** The Cookie header, which may have a session that a key began. */
  cookie: string | undefined;
  /** Whether the locality of the request is `local`. */
  isLocal: boolean;
}

/** How long an unused key is valid. */
const KEY_MS = HOUR_MS;
/** The document with the hash of the key: one process creates it, and others take it. */
const KEY = "operator key";

/** How long an operator without an account may change secrets after opening the address with the key. */
export const OPERATOR_MS = HOUR_MS;
/** How long that browser may ask for repositories. */
export const OPERATOR_SESSION_MS = 30 * DAY_MS;
/** The session of an operator without an account. */
export const OPERATOR_COOKIE: PageCookie = {
  name: "sidereal.operator",
  path: "/",
  seconds: OPERATOR_SESSION_MS / 1_000,
  sameSite: "Strict",
};

/** Whether the service is only for its own machine: its address is there, and the settings name no proxy in front. */
const isForItsMachine = ({ baseUrl, trustedProxies }: Config): boolean =>
  isLoopback(baseUrl) && trustedProxies.length === 0;

/** Throws FORBIDDEN for the address of an operator's account, which must neither be banned nor deleted by accident. */
export function refuseOperator({ operators }: Pick<Config, "operators">, email: string): void {
  if (operators.includes(email.toLowerCase()))
    throw new AppError(
      "FORBIDDEN",
      `${email} is an operator: first take the address out of SIDEREAL_OPERATORS and restart the service.`,
    );
}

/**
 * An address with a new key, which makes the browser that opens it an operator: once, within an hour. The key before it becomes invalid.
 * Undefined unless the service is only for its own machine.
 */
export async function createOperatorUrl(
  { durable }: Pick<Database, "durable">,
  config: Config,
  at: number,
): Promise<string | undefined> {
  if (!isForItsMachine(config)) return undefined;
  const key = createToken("sidl");
  await writeDocument(durable, KEY, { at, body: hashToken(key) });
  return `${config.baseUrl}/operator/enter?key=${key}`;
}

/**
 * Who may operate the service on its pages: accounts whose verified address is listed in the settings, and if the service is only for
 * its own machine, browsers that have opened an address with a key. The key is as hard to guess as a session, so it is enough that a
 * request looks local, which one through a proxy may do too.
 */
export class Operators {
  constructor(private readonly context: AccountsContext) {}

  get hasKeys(): boolean {
    return isForItsMachine(this.context.config);
  }

  /** Throws FORBIDDEN for the address of an operator's account. */
  refuse(email: string): void {
    refuseOperator(this.context.config, email);
  }

  /** Whether a visitor may become an operator by a key. */
  mayUseKey(isLocal: boolean): boolean {
    return this.hasKeys && isLocal;
  }

  /** Reads the database only for a visitor with a token that a key began. */
  async find({ account, cookie = "", isLocal }: Visitor): Promise<Operator | undefined> {
    const { database, clock, config } = this.context;
    if (account !== undefined && config.operators.includes(account.email.toLowerCase()))
      return { accountId: account.id, isRecent: isRecentSignIn(account) };
    const token = readCookie(OPERATOR_COOKIE, cookie, config.baseUrl);
    if (token === undefined || tokenPrefix(token) !== "sido" || !this.mayUseKey(isLocal)) return undefined;
    const now = clock.now();
    const found = await database.read
      .selectFrom("operator_sessions")
      .select("began_at")
      .where("token_hash", "=", hashToken(token))
      .where("began_at", ">", now - OPERATOR_SESSION_MS)
      // One from the future would be young again when the clock is put right.
      .where("began_at", "<=", now)
      .executeTakeFirst();
    return found && { accountId: null, isRecent: found.began_at > now - OPERATOR_MS };
  }

  /** Whether the account with an id, such as that of a key, is an operator's. Reads the database only if any account is. */
  async isOperator(accountId: string): Promise<boolean> {
    const { database, config } = this.context;
    if (config.operators.length === 0) return false;
    const email = (await addressesOf(database, [accountId])).get(accountId);
    return email !== undefined && config.operators.includes(email);
  }

  /** Uses up the key. Returns the token of a session; undefined for any other text, the second time, and after an hour. */
  async enterByKey(key: string): Promise<string | undefined> {
    if (tokenPrefix(key) !== "sidl") return undefined;
    const { database, clock } = this.context;
    // Of several at the same time, one deletes the row. A command on another machine may have a clock that is ahead.
    const { numDeletedRows } = await database.durable
      .deleteFrom("status_documents")
      .where("name", "=", KEY)
      .where("body", "=", JSON.stringify(hashToken(key)))
      .where("at", ">", clock.now() - KEY_MS)
      .where("at", "<", clock.now() + KEY_MS)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n ? this.#begin() : undefined;
  }

  async #begin(): Promise<string> {
    const { database, clock } = this.context;
    const token = createToken("sido");
    await database.durable
      .insertInto("operator_sessions")
      .values({ token_hash: hashToken(token), began_at: clock.now() })
      .execute();
    return token;
  }

  /** Ends a session that a key began. */
  async leave(token: string): Promise<void> {
    await this.context.database.durable
      .deleteFrom("operator_sessions")
      .where("token_hash", "=", hashToken(token))
      .execute();
  }
}

/**
 * Ends the sessions of the account with an address, or of everybody, and records it. Everybody includes operators without an account;
 * all unused codes, links and the key become invalid too. Returns the number of sessions; undefined if no account has the address.
 */
export async function endSessionsOf(
  { durable }: Pick<Database, "durable">,
  whose: { email: string } | "everybody",
  at: number,
): Promise<number | undefined> {
  const accountId = whose === "everybody" ? null : await findAccountId(durable, whose.email);
  if (accountId === undefined) return undefined;
  return durable.transaction().execute(async (tx) => {
    let sessions = await endSessions(tx, accountId === null ? sql`1 = 1` : sql`account_id = ${accountId}`);
    if (accountId === null) {
      await tx.deleteFrom("sign_in_requests").execute();
      await tx.deleteFrom("status_documents").where("name", "=", KEY).execute();
      const ended = await tx.deleteFrom("operator_sessions").executeTakeFirstOrThrow();
      sessions += Number(ended.numDeletedRows);
    }
    const detail = { by: "operator", sessions };
    const event = { at, accountId, event: "sessions_ended", network: "local", detail } as const;
    if (sessions > 0) await insertEvent(tx, event);
    return sessions;
  });
}
