import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { createToken, hashToken, tokenPrefix } from "../tokens.js";

/** How long a code is valid. */
export const CODE_MS = 10 * 60_000;
/** How long an operator's session lasts after entering a code. */
export const OPERATOR_MS = 60 * 60_000;
const MAX_TRIES = 5;
/** Without characters that look alike: 49 bits in a code. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 10;

export interface OperatorCodesOptions {
  database: Database;
  clock: Clock;
  readSecret: () => Promise<string>;
}

/**
 * One-time codes that the service writes to its log, and the sessions that they begin. A code works once, for ten minutes, in the
 * browser that requested it, and has five tries; requesting another one replaces it. Only hashes are stored.
 */
export class OperatorCodes {
  readonly #options: OperatorCodesOptions;

  constructor(options: OperatorCodesOptions) {
    this.#options = options;
  }

  /** Creates a code for a browser. It must go to the log and nowhere else. */
  async create(browser: string): Promise<string> {
    const { database, clock } = this.#options;
    const digits = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    const row = { code_hash: await this.#hash(browser, digits), tries: 0, requested_at: clock.now() };
    await database.durable
      .insertInto("operator_codes")
      .values({ browser_hash: hashToken(browser), ...row })
      .onConflict((conflict) => conflict.column("browser_hash").doUpdateSet(row))
      .execute();
    return `${digits.slice(0, LENGTH / 2)}-${digits.slice(LENGTH / 2)}`;
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
