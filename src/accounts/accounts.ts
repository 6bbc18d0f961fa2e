/**
 * Accounts: who somebody is. Signing in by a link in a mail, or by GitHub and Google where configured; sessions; removal.
 * The protocols are Better Auth's, on our tables; none of its routes are served, only what is called from here. Links and
 * sessions are kept as hashes. An account is an e-mail address that its owner has proven to read, or that a site has verified.
 */
import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Config } from "../config.js";
import type { Database } from "../database/database.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import { hashToken, tokenPrefix } from "../tokens.js";
import type { ApiKeys } from "./api-keys.js";
import { Held } from "./held.js";
import { type Library, openLibrary } from "./library.js";
import { LinkGuard } from "./link-guard.js";
import { LINK_MS, LinkQuota, linkMail } from "./links.js";
import { Mailer } from "./mail.js";
import { isLoopback, isOwnOrigin, safeNext } from "./origin.js";
import { readSecret } from "./secret.js";
import { comeFromSite, failedUrl, goToSite, type Passage, SITES, type Site } from "./sites.js";

export { type ApiKey, ApiKeys, type KeyHolder, MAX_KEYS } from "./api-keys.js";
export { emailField } from "./email.js";
export { readSecret } from "./secret.js";
export { type Passage, SITE_ORIGINS, SITES, type Site } from "./sites.js";

/** Somebody who is signed in. */
export interface Account {
  id: string;
  email: string;
  /** As a site told it; empty where none did. */
  name: string;
  createdAt: number;
  sessionId: string;
  sessionExpiresAt: number;
}

/** Somebody who has just signed in, and the cookies to set. */
export interface SignedIn {
  account: Account;
  cookies: string[];
}

/** Longer values are no session's. */
const MAX_COOKIE = 1_000;

export interface AccountsOptions {
  database: Database;
  keys: ApiKeys;
  clock: Clock;
  log: Logger;
  config: Pick<Config, "baseUrl" | "authSecret" | "databaseUrl" | "dataDir" | "github" | "google" | "mail">;
}

export class Accounts {
  readonly #options: AccountsOptions;
  readonly #mailer: Mailer | undefined;
  readonly #quota: LinkQuota;
  /** Account ids by the hash of the cookie. */
  readonly #sessions: Held<string>;
  #library: Promise<Library> | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
    // A session that is over is held too: who goes on sending its cookie must not make a read each time.
    this.#sessions = new Held(options.clock, true);
    options.keys.forgetting.add(() => this.#sessions.forget());
    this.#quota = new LinkQuota(options.clock);
    const { mail } = options.config;
    this.#mailer = mail === undefined ? undefined : new Mailer(mail, options.log);
  }

  /** How one can sign in here. Without a mail server, links are only told on a machine of one's own, in the log. */
  get methods(): { mail: boolean; sites: Site[] } {
    const { config } = this.#options;
    return {
      mail: this.#mailer !== undefined || isLoopback(config.baseUrl),
      sites: SITES.filter((site) => config[site] !== undefined),
    };
  }

  /** Whether links are told in the log, as no mail server is configured and the service is on a machine of one's own. */
  get isMailLogged(): boolean {
    return this.#mailer === undefined && this.methods.mail;
  }

  /** How long a link may be used. */
  get linkSeconds(): number {
    return LINK_MS / 1_000;
  }

  /** Whether a request that changes something comes from our own pages, or from a program without cookies. */
  isOwnOrigin(headers: Headers): boolean {
    return isOwnOrigin(headers, this.#options.config.baseUrl);
  }

  /** The path to go on to after signing in; undefined for one that leads elsewhere. */
  safeNext(next: string): string | undefined {
    return safeNext(next, this.#options.config.baseUrl);
  }

  /** Gets ready, so that what is wrong with the secret is told at the start. */
  async open(): Promise<void> {
    await this.#opened();
    const { mail, sites } = this.methods;
    if (!mail) this.#options.log.warn({ sites }, "sign-in by mail is off: no mail server is configured");
  }

  /**
   * Sends a link that signs in and goes on to `next`, a safe path; `browser` is a secret that the browser keeps which asks
   * for it, where one does. Does the same for every address, known or not. Throws FORBIDDEN where sign-in by mail is off.
   */
  async requestLink(address: string, next: string, browser?: string): Promise<void> {
    if (!this.methods.mail)
      throw new AppError("FORBIDDEN", "Sign-in by e-mail is off here: no mail server is configured.");
    const email = address.toLowerCase();
    if (!this.#quota.take(email)) return;
    const library = await this.#opened();
    const headers = new Headers();
    const metadata = { next, ...(browser === undefined ? {} : { browser: hashToken(browser) }) };
    await library.api.signInMagicLink({ body: { email, metadata }, headers });
    await this.#removeExpired(library);
  }

  /**
   * Whether a link was asked for by the browser that keeps this secret; it is not used up. Undefined for one that is
   * malformed, unknown, used, too old, or closed to other browsers after five wrong addresses.
   */
  async isLinkOf(token: string, browser: string | undefined): Promise<boolean | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    return new LinkGuard(await this.#opened()).isAskedBy(token, browser);
  }

  /** Whether a link was sent to this address, which is asked five times at most. Undefined as for `isLinkOf`. */
  async isLinkTo(token: string, address: string): Promise<boolean | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    return new LinkGuard(await this.#opened()).isSentTo(token, address);
  }

  /**
   * Signs in by the token of a link, which works once. Undefined for one that is malformed, unknown, used or too old. What a
   * browser is led to must ask `isLinkOf` or `isLinkTo` before.
   */
  async signInByLink(token: string): Promise<SignedIn | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    const library = await this.#opened();
    const headers = new Headers();
    const response = await library.api.magicLinkVerify({ query: { token }, headers, asResponse: true });
    if (response.status >= 500) throw unavailable();
    if (response.status !== 200) return undefined;
    const cookies = response.headers.getSetCookie();
    const account = await this.find(cookieHeader(cookies));
    return account === undefined ? undefined : { account, cookies };
  }

  /** Where to send a browser so that a site vouches for it. Throws NOT_FOUND where the site is not configured. */
  async startAt(site: Site, next: string): Promise<Passage> {
    if (!this.methods.sites.includes(site))
      throw new AppError("NOT_FOUND", "Sign-in by this site is not configured here.");
    return goToSite(await this.#opened(), this.#options.config.baseUrl, site, next);
  }

  /** Takes what a site sent back with the browser. The location is where to go on, or a page that says what went wrong. */
  async finishAt(site: Site, query: Record<string, string>, cookie: string): Promise<Passage> {
    const failed = { cookies: [], location: failedUrl(this.#options.config.baseUrl) };
    if (!this.methods.sites.includes(site)) return failed;
    const { cookies, location } = await comeFromSite(await this.#opened(), site, query, cookie);
    const isIn = (await this.find(cookieHeader(cookies))) !== undefined;
    return isIn && location !== null ? { cookies, location } : { ...failed, cookies };
  }

  /** Who sends this cookie header; undefined for nobody. */
  async find(cookie: string | null): Promise<Account | undefined> {
    if (!cookie?.includes(this.#cookieName)) return undefined;
    const library = await this.#opened();
    // The library asks the database, and hides what that answered.
    const found = await library.api
      .getSession({ headers: new Headers({ cookie }) })
      .catch((cause: unknown) => {
        throw unavailable(cause);
      });
    if (found === null) return undefined;
    const { user, session } = found;
    return {
      id: user.id,
      email: user.email,
      name: user.name,
      createdAt: user.createdAt.getTime(),
      sessionId: session.id,
      sessionExpiresAt: session.expiresAt.getTime(),
    };
  }

  /**
   * The account whose session this cookie header has, at most five seconds old; undefined for none. Good enough to count a
   * request, and not to let anybody in: that is `find`.
   */
  async findId(cookie: string): Promise<string | undefined> {
    if (!cookie.includes(this.#cookieName)) return undefined;
    const own = cookie
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${this.#cookieName}=`))
      .join("; ");
    if (own === "" || own.length > MAX_COOKIE) return undefined;
    return this.#sessions.find(hashToken(own), async () => (await this.find(own))?.id);
  }

  /** The sites that vouch for an account. */
  async sitesOf(accountId: string): Promise<string[]> {
    const { rows } = await sql<{ provider: string }>`
      select provider from identities where account_id = ${accountId} order by provider`.execute(
      this.#options.database.read,
    );
    return rows.map((row) => row.provider);
  }

  /** Ends a session. Returns the cookies to set. */
  async signOut({ sessionId }: Account): Promise<string[]> {
    await sql`delete from sessions where id = ${sessionId}`.execute(this.#options.database.durable);
    this.#options.keys.forget();
    return [this.clearingCookie];
  }

  /** Ends all sessions of an account. Returns the cookies to set. */
  async signOutEverywhere({ id }: Account): Promise<string[]> {
    await sql`delete from sessions where account_id = ${id}`.execute(this.#options.database.durable);
    this.#options.keys.forget();
    return [this.clearingCookie];
  }

  /** Removes an account for good, with its sessions, keys, and list. Returns the cookies to set. */
  async remove({ id }: Account): Promise<string[]> {
    const { database, keys } = this.#options;
    await database.durable.deleteFrom("accounts").where("id", "=", id).execute();
    keys.forget();
    return [this.clearingCookie];
  }

  /** A cookie that takes the session away from a browser. */
  get clearingCookie(): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#cookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure}`;
  }

  /** Waits for mail that is under way. */
  async close(): Promise<void> {
    await this.#mailer?.close();
  }

  get #isSecure(): boolean {
    return this.#options.config.baseUrl.startsWith("https:");
  }

  get #cookieName(): string {
    return `${this.#isSecure ? "__Host-" : ""}sidereal.session_token`;
  }

  #opened(): Promise<Library> {
    const { database, config, log } = this.#options;
    this.#library ??= readSecret(config, database)
      .then((secret) =>
        openLibrary({ database, config, secret, log, onLink: (link) => this.#sendLink(link) }),
      )
      .catch((error: unknown) => {
        this.#library = undefined;
        throw error;
      });
    return this.#library;
  }

  #sendLink({ email, token, next }: { email: string; token: string; next: string }): void {
    const { config, log } = this.#options;
    const link = new URL(`${config.baseUrl}/sign-in/link`);
    link.searchParams.set("token", token);
    if (next !== "/") link.searchParams.set("next", next);
    if (this.#mailer === undefined) {
      log.warn({ link: link.href }, "no mail server is configured; this link signs in");
      return;
    }
    this.#mailer.send(linkMail(email, link));
  }

  /** What nobody used in time goes when the next link is made. */
  async #removeExpired(library: Library): Promise<void> {
    const { adapter } = await library.$context;
    const where = [{ field: "expiresAt", operator: "lt" as const, value: new Date() }];
    await adapter.deleteMany({ model: "verification", where });
    await adapter.deleteMany({ model: "session", where });
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError("UNAVAILABLE", "Sessions cannot be looked up now; try again.", { cause });
}

/** What a browser that was told these cookies sends back. */
function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(";")[0] ?? "").join("; ");
}
