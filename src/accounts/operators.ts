import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import { insertEvent } from "./account-events.js";
import { findAccountId } from "./addresses.js";
import type { AccountsContext } from "./context.js";
import { CODE_MS, OneTimeCodes, spacedCode } from "./one-time-codes.js";
import { isLoopback } from "./origin.js";
import { endSessions, isRecentSignIn } from "./sessions.js";

/** Somebody who operates the service: the owner of a listed account, or somebody at the machine who has read its log. */
export interface Operator {
  /** null: at the machine, without an account. */
  accountId: string | null;
  /** Whether the sign-in is recent enough to change secrets. */
  isRecent: boolean;
}

/** The sender of a request, by which operators are recognized. */
interface Visitor {
  /** The signed-in account, whose address is proven. */
  account: { id: string; email: string; sessionCreatedAt: number } | undefined;
  /** Of a session at the machine. */
  token: string | undefined;
  /** See HttpRequest. */
  isOnThisMachine: boolean;
}

/** How long an operator at the machine may change secrets after opening the printed address or entering a code. */
export const OPERATOR_MS = 60 * 60_000;
/** How long that browser may ask for repositories. */
export const OPERATOR_SESSION_MS = 30 * DAY_MS;

/**
 * Who may operate the service on its pages. Accounts whose verified address is listed in the settings; and where the service is
 * only for its own machine: a browser there that opens the address its start prints, or that sends a code from its log.
 */
export class Operators {
  readonly #codes: OneTimeCodes;
  /** Hash of the key in the address that the start has printed, until it is used. */
  #keyHash: string | undefined;

  constructor(private readonly context: AccountsContext) {
    this.#codes = new OneTimeCodes(context, "operator");
  }

  /** Whether codes in the log are offered at all: only where nothing is in front of the service and its address is this machine. */
  get hasCodes(): boolean {
    const { baseUrl, trustedProxies } = this.context.config;
    return isLoopback(baseUrl) && trustedProxies.length === 0;
  }

  /** Whether this visitor may become an operator by a code. */
  mayUseCode(isOnThisMachine: boolean): boolean {
    return this.hasCodes && isOnThisMachine;
  }

  /** Reads the database only for a visitor at the machine with a session there: its token is worth nothing from elsewhere. */
  async find({ account, token, isOnThisMachine }: Visitor): Promise<Operator | undefined> {
    if (account !== undefined && this.context.config.operators.includes(account.email.toLowerCase()))
      return { accountId: account.id, isRecent: isRecentSignIn(account) };
    if (token === undefined || tokenPrefix(token) !== "sido" || !this.mayUseCode(isOnThisMachine))
      return undefined;
    const { database, clock } = this.context;
    const found = await database.read
      .selectFrom("operator_sessions")
      .select("began_at")
      .where("token_hash", "=", hashToken(token))
      .where("began_at", ">", clock.now() - OPERATOR_SESSION_MS)
      .executeTakeFirst();
    return found && { accountId: null, isRecent: found.began_at > clock.now() - OPERATOR_MS };
  }

  /** A key that makes one browser on this machine an operator, and replaces the one before it. Undefined where codes are not offered. */
  createKey(): string | undefined {
    if (!this.hasCodes) return undefined;
    const key = createToken("sidl");
    this.#keyHash = hashToken(key);
    return key;
  }

  /** Uses up the key. Returns the token of a session; undefined for any other text, and the second time. */
  async enterByKey(key: string): Promise<string | undefined> {
    if (this.#keyHash === undefined || hashToken(key) !== this.#keyHash) return undefined;
    this.#keyHash = undefined;
    return this.#begin();
  }

  /** Writes a new code for a browser into the log. */
  async logCode(browser: string): Promise<void> {
    const { code } = await this.#codes.create(browser, { email: "", next: "" });
    this.context.log.warn(
      { code: spacedCode(code), minutes: CODE_MS / 60_000 },
      "this code opens the operator's page in the browser that requested it",
    );
  }

  /** Uses up a code. Returns the token of a session; undefined whatever is wrong with the code. */
  async enter(browser: string, code: string): Promise<string | undefined> {
    return (await this.#codes.take({ browser, code })) === undefined ? undefined : this.#begin();
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

  /** Ends a session at the machine. */
  async leave(token: string): Promise<void> {
    await this.context.database.durable
      .deleteFrom("operator_sessions")
      .where("token_hash", "=", hashToken(token))
      .execute();
  }
}

/**
 * Ends the sessions of the account with an address, or of everybody, and records it. Everybody includes operators without an account;
 * all unused codes and links become invalid too. Returns the number of sessions; undefined if no account has the address.
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
      const ended = await tx.deleteFrom("operator_sessions").executeTakeFirstOrThrow();
      sessions += Number(ended.numDeletedRows);
    }
    const detail = { by: "operator", sessions };
    const event = { at, accountId, event: "sessions_ended", network: "local", detail } as const;
    if (sessions > 0) await insertEvent(tx, event);
    return sessions;
  });
}
