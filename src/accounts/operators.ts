import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import type { Config } from "../config/config.js";
import type { Database, Tx } from "../database/database.js";
import { cookieScope } from "../lib/base-url.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import { isRecentSignIn } from "./library-time.js";
import { isLoopback } from "./origin.js";
import { readSecret } from "./secret.js";

/** Somebody who operates the service: the owner of a listed account, or somebody at the machine who has read its log. */
export interface Operator {
  /** null: at the machine, without an account. */
  accountId: string | null;
  /** Whether the sign-in is recent enough to change secrets. */
  isRecent: boolean;
}

/** The sender of a request, by which operators are recognized. */
export interface Visitor {
  /** The signed-in account, whose address is proven. */
  account: { id: string; email: string; sessionCreatedAt: number } | undefined;
  cookie: string | null;
  /** See HttpRequest. */
  isOnThisMachine: boolean;
}

export interface OperatorsOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  config: Pick<Config, "baseUrl" | "trustedProxies" | "operators" | "authSecret" | "databaseUrl" | "dataDir">;
}

/** How long a code is valid. */
export const CODE_MS = 10 * 60_000;
/** How long an operator's session lasts after entering a code. */
export const OPERATOR_MS = 60 * 60_000;
/** Maximum number of codes compared with the one of a browser. */
const MAX_TRIES = 5;
/** Without characters that look alike: 49 bits in a code. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const CODE_CHARACTERS = 10;

const COOKIE = "sidereal.operator";

/**
 * Who may operate the service on its pages. Accounts whose verified address is listed in the settings; and where the service is
 * only for its own machine, whoever types a code from its log in a browser there, for an hour.
 */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #codes: OperatorCodes;

  constructor(options: OperatorsOptions) {
    const { database, config } = options;
    this.#options = options;
    this.#codes = new OperatorCodes({ ...options, readSecret: () => readSecret(config, database) });
  }

  /** Whether codes in the log are offered at all: only where nothing is in front of the service and its address is this machine. */
  get hasCodes(): boolean {
    const { baseUrl, trustedProxies } = this.#options.config;
    return isLoopback(baseUrl) && trustedProxies.length === 0;
  }

  /** Whether this visitor may become an operator by a code. */
  mayUseCode({ isOnThisMachine }: Pick<Visitor, "isOnThisMachine">): boolean {
    return this.hasCodes && isOnThisMachine;
  }

  /** Reads the database only for a visitor at the machine with a session there. */
  async find(visitor: Visitor): Promise<Operator | undefined> {
    const { account } = visitor;
    if (account !== undefined && this.#options.config.operators.includes(account.email.toLowerCase()))
      return { accountId: account.id, isRecent: isRecentSignIn(account) };
    const token = this.#tokenIn(visitor);
    const isHere = token !== undefined && (await this.#codes.isSession(token));
    return isHere ? { accountId: null, isRecent: true } : undefined;
  }

  /** Writes a new code for a browser into the log. The browser's previous one ends. */
  async logCode(browser: string): Promise<void> {
    const code = await this.#codes.create(browser);
    const { log } = this.#options;
    log.warn(
      { code, minutes: CODE_MS / 60_000 },
      "this code opens the operator's page in the browser that requested it",
    );
  }

  /** Uses up a code. Returns the cookie to set; undefined whatever is wrong with the code. */
  async enter(browser: string, typed: string): Promise<string | undefined> {
    const token = await this.#codes.use(browser, typed);
    return token && this.#cookie(token, OPERATOR_MS / 1_000);
  }

  /** Ends the session of a browser at the machine. Returns the cookie to set. */
  async leave(visitor: Visitor): Promise<string> {
    const token = this.#tokenIn(visitor);
    if (token !== undefined) await this.#codes.endSession(token);
    return this.#cookie("", 0);
  }

  /** Deletes expired codes and sessions. Returns the number of sessions. */
  removeExpired(): Promise<number> {
    return this.#codes.removeExpired();
  }

  /** The session in the cookie of a visitor for whom it counts: a cookie is worth nothing from elsewhere. */
  #tokenIn({ cookie, isOnThisMachine }: Visitor): string | undefined {
    if (cookie === null || !this.mayUseCode({ isOnThisMachine })) return undefined;
    const name = `${cookieScope(this.#options.config.baseUrl).prefix}${COOKIE}=`;
    const values = cookie.split(/; ?/).filter((one) => one.startsWith(name));
    return values.length === 1 ? values[0]?.slice(name.length) : undefined;
  }

  #cookie(value: string, seconds: number): string {
    const { prefix, path, secure } = cookieScope(this.#options.config.baseUrl);
    return `${prefix}${COOKIE}=${value}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  }
}

interface OperatorCodesOptions {
  database: Database;
  clock: Clock;
  readSecret: () => Promise<string>;
}

/**
 * One-time codes that the service writes to its log, and the sessions that they begin. A code works once, for ten minutes, in the
 * browser that requested it, and has five tries; requesting another one replaces it. Only hashes are stored.
 */
class OperatorCodes {
  readonly #options: OperatorCodesOptions;

  constructor(options: OperatorCodesOptions) {
    this.#options = options;
  }

  /** Creates a code for a browser. It must go to the log and nowhere else. */
  async create(browser: string): Promise<string> {
    const { database, clock } = this.#options;
    const digits = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join(
      "",
    );
    const row = { code_hash: await this.#hash(browser, digits), tries: 0, requested_at: clock.now() };
    await database.durable
      .insertInto("operator_codes")
      .values({ browser_hash: hashToken(browser), ...row })
      .onConflict((conflict) => conflict.column("browser_hash").doUpdateSet(row))
      .execute();
    return `${digits.slice(0, CODE_CHARACTERS / 2)}-${digits.slice(CODE_CHARACTERS / 2)}`;
  }

  /** Uses up a code and begins a session. Returns its token; undefined whatever is wrong with the code. */
  async use(browser: string, typed: string): Promise<string | undefined> {
    const { database, clock } = this.#options;
    const given = await this.#hash(browser, typed.toUpperCase().replaceAll(/[^0-9A-Z]/g, ""));
    return database.durable.transaction().execute(async (tx) => {
      // Counted before codes are compared, and in one statement, so that no number of requests at a time gets more tries.
      const row = await tx
        .updateTable("operator_codes")
        .set((eb) => ({ tries: eb("tries", "+", 1) }))
        .where("browser_hash", "=", hashToken(browser))
        .where("requested_at", ">", clock.now() - CODE_MS)
        .where("tries", "<", MAX_TRIES)
        .returning("code_hash")
        .executeTakeFirst();
      if (row === undefined || !timingSafeEqual(Buffer.from(row.code_hash), Buffer.from(given)))
        return undefined;
      await tx.deleteFrom("operator_codes").where("browser_hash", "=", hashToken(browser)).execute();
      const token = createToken("sido");
      await tx
        .insertInto("operator_sessions")
        .values({ token_hash: hashToken(token), began_at: clock.now() })
        .execute();
      return token;
    });
  }

  async isSession(token: string): Promise<boolean> {
    if (tokenPrefix(token) !== "sido") return false;
    const { database, clock } = this.#options;
    const found = await database.read
      .selectFrom("operator_sessions")
      .select("began_at")
      .where("token_hash", "=", hashToken(token))
      .where("began_at", ">", clock.now() - OPERATOR_MS)
      .executeTakeFirst();
    return found !== undefined;
  }

  async endSession(token: string): Promise<void> {
    await this.#options.database.durable
      .deleteFrom("operator_sessions")
      .where("token_hash", "=", hashToken(token))
      .execute();
  }

  /** Deletes expired codes and sessions. Returns the number of sessions. */
  async removeExpired(): Promise<number> {
    const { database, clock } = this.#options;
    const now = clock.now();
    await database.durable
      .deleteFrom("operator_codes")
      .where("requested_at", "<=", now - CODE_MS)
      .execute();
    const ended = await database.durable
      .deleteFrom("operator_sessions")
      .where("began_at", "<=", now - OPERATOR_MS)
      .executeTakeFirst();
    return Number(ended.numDeletedRows);
  }

  /** Not a plain hash, so that a copy of the database is not enough to find a code that is still valid. */
  async #hash(browser: string, digits: string): Promise<string> {
    return createHmac("sha256", await this.#options.readSecret())
      .update(`operator code ${hashToken(browser)} ${digits}`)
      .digest("hex");
  }
}

/** Ends the sessions of all operators without an account, and makes unused codes invalid. Returns the number of sessions. */
export async function endOperatorSessions(tx: Tx): Promise<number> {
  await tx.deleteFrom("operator_codes").execute();
  const { numDeletedRows } = await tx.deleteFrom("operator_sessions").executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
