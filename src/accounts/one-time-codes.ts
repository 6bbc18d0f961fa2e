import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import type { AccountsContext } from "./context.js";
import { readSecret } from "./secret.js";

export { createSecret as createBrowserSecret } from "../database/database.js";

/** How long a code and the link with it are valid. */
export const CODE_MS = 10 * 60_000;
/** Maximum number of codes compared with one. */
const MAX_TRIES = 5;
export const CODE_LENGTH = 8;

/** The proof of a browser: its secret, and a code or the token of a link. */
export type CodeProof = { browser: string | undefined } & ({ token: string } | { code: string });

/** The purpose of a code. */
export interface CodeRequest {
  /** In lower case. */
  email: string;
  /** The path to continue to, which was safe when it was requested. */
  next: string;
}

/** The digits of a code as somebody typed it; undefined if it cannot be one. */
export function typedCode(text: string): string | undefined {
  const digits = text.replaceAll(/[\s-]/g, "");
  return /^\d+$/.test(digits) && digits.length === CODE_LENGTH ? digits : undefined;
}

/** A code in two groups, which are easier to read and type. */
export function spacedCode(code: string): string {
  return `${code.slice(0, CODE_LENGTH / 2)} ${code.slice(CODE_LENGTH / 2)}`;
}

/**
 * One-time codes, each with the token of a link. Both work once, for ten minutes, and only together with the secret of the browser that
 * requested them. Using one ends all that this browser has requested. A code has five tries. Nothing is stored with which anybody
 * could sign in, nor with which a code could be found by trying all of them.
 */
export class OneTimeCodes {
  constructor(private readonly context: AccountsContext) {}

  /** Adds a request of a browser. The token and the code must reach only the person who may use them. */
  async create(browser: string, { email, next }: CodeRequest): Promise<{ token: string; code: string }> {
    const token = createToken("sidl");
    const code = String(randomInt(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, "0");
    await this.context.database.durable
      .insertInto("sign_in_requests")
      .values({
        token_hash: hashToken(token),
        browser_hash: this.#hash(browser),
        code_hash: await this.#hashCode(browser, code),
        email,
        next,
        tries: 0,
        requested_at: this.context.clock.now(),
      })
      .execute();
    return { token, code };
  }

  /** Whether this browser requested a link. Undefined for one that is malformed, unknown, used or expired. Changes nothing. */
  async isOf(token: string, browser: string | undefined): Promise<boolean | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    const found = await this.#valid()
      .select("browser_hash")
      .where("token_hash", "=", hashToken(token))
      .executeTakeFirst();
    if (found === undefined) return undefined;
    return browser !== undefined && found.browser_hash === this.#hash(browser);
  }

  /** The latest request of a browser that is not used and not expired. */
  latestOf(browser: string): Promise<CodeRequest | undefined> {
    return this.#valid()
      .select(["email", "next"])
      .where("browser_hash", "=", this.#hash(browser))
      .orderBy("requested_at", "desc")
      .limit(1)
      .executeTakeFirst();
  }

  /**
   * Uses up a link or code. Undefined for one that is malformed, unknown, used, expired, tried too often, or requested by
   * another browser. A wrong code counts against all requests of the browser.
   */
  async take(proof: CodeProof): Promise<CodeRequest | undefined> {
    const { browser } = proof;
    if (browser === undefined) return undefined;
    if ("token" in proof && tokenPrefix(proof.token) !== "sidl") return undefined;
    const token = "token" in proof ? hashToken(proof.token) : await this.#findByCode(browser, proof.code);
    if (token === undefined) return undefined;
    const hash = this.#hash(browser);
    const { rows } = await sql<CodeRequest & { token_hash: string }>`
      delete from sign_in_requests where browser_hash = ${hash} and exists (
        select 1 from sign_in_requests as wanted where wanted.token_hash = ${token}
          and wanted.browser_hash = ${hash} and wanted.requested_at > ${this.#validFrom})
      returning token_hash, email, next`.execute(this.context.database.durable);
    // Of several at the same time, one deletes the rows and sees them.
    return rows.find((row) => row.token_hash === token);
  }

  /** Deletes expired requests. */
  async removeExpired(): Promise<void> {
    await this.context.database.durable
      .deleteFrom("sign_in_requests")
      .where("requested_at", "<=", this.#validFrom)
      .execute();
  }

  /** The hashed token of the request with this code. Tries are counted before codes are compared, so that none can evade it. */
  async #findByCode(browser: string, code: string): Promise<string | undefined> {
    const digits = typedCode(code);
    if (digits === undefined) return undefined;
    const hashed = Buffer.from(await this.#hashCode(browser, digits));
    const rows = await this.context.database.durable
      .updateTable("sign_in_requests")
      .set((eb) => ({ tries: eb("tries", "+", 1) }))
      .where("browser_hash", "=", this.#hash(browser))
      .where("requested_at", ">", this.#validFrom)
      .where("tries", "<", MAX_TRIES)
      .returning(["token_hash", "code_hash"])
      .execute();
    return rows.find((row) => timingSafeEqual(Buffer.from(row.code_hash), hashed))?.token_hash;
  }

  /** Requests made until then have expired. */
  get #validFrom(): number {
    return this.context.clock.now() - CODE_MS;
  }

  #valid() {
    return this.context.database.read
      .selectFrom("sign_in_requests")
      .where("requested_at", ">", this.#validFrom);
  }

  #hash(browser: string): string {
    return hashToken(`sign-in ${browser}`);
  }

  /** Not a plain hash: all codes can be tried in a second. */
  async #hashCode(browser: string, code: string): Promise<string> {
    return createHmac("sha256", await readSecret(this.context))
      .update(`code ${this.#hash(browser)} ${code}`)
      .digest("hex");
  }
}
