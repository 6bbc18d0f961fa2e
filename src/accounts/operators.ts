import { cookieScope } from "../base-url.js";
import type { Clock } from "../clock.js";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import type { Logger } from "../log.js";
import { CODE_MS, OPERATOR_MS, OperatorCodes } from "./operator-codes.js";
import { isLoopback } from "./origin.js";
import { isRecentSignIn } from "./recent-sign-in.js";
import { readSecret } from "./secret.js";

/** Somebody who operates the service: the owner of a listed account, or somebody at the machine who has read its log. */
export interface Operator {
  /** null: at the machine, without an account. */
  accountId: string | null;
  /** Whether the sign-in is recent enough to change secrets. */
  isRecent: boolean;
}

/** Who sends a request, as far as operators are recognized by it. */
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
