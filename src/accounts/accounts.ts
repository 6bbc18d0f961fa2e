/**
 * Accounts: sign-in by a link in a mail, with a passkey, or with GitHub and Google where configured; sessions; API keys;
 * removal. Better Auth implements the protocols on our tables; none of its routes are served. Links and sessions are stored as
 * hashes. An account is an e-mail address that its owner has proven to read, or that a site has verified.
 */
import { sql } from "kysely";
import { type CookieScope, cookieScope } from "../base-url.js";
import type { Clock } from "../clock.js";
import type { Config } from "../config.js";
import type { Database } from "../database/database.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import { hashToken, tokenPrefix } from "../tokens.js";
import type { ApiKeys } from "./api-keys.js";
import { DeferredTasks } from "./deferred-tasks.js";
import { Erasure } from "./erasure.js";
import type { Library } from "./library.js";
import { libraryNow } from "./library-time.js";
import { LinkGuard } from "./link-guard.js";
import { LINK_MS, LinkQuota, linkMail } from "./links.js";
import { Mailer } from "./mail.js";
import { failedUrl, finishOAuth, type OAuthRedirect, SITES, type Site, startOAuth } from "./oauth.js";
import { isLoopback, isOwnOrigin, type OriginHeaders, safeNext } from "./origin.js";
import { type Assertion, Passkeys } from "./passkeys.js";
import { readSecret } from "./secret.js";
import { sessionCookie } from "./session-cookie.js";
import { TtlCache } from "./ttl-cache.js";

export { type ApiKey, ApiKeys, type KeyHolder, MAX_KEYS } from "./api-keys.js";
export { emailField } from "./email.js";
export { agentOf, describeEvent, detailWords, EVENT_WORDS } from "./event-words.js";
export { addressesOf, findAccountId } from "./lookup.js";
export { type OAuthRedirect, SITE_ORIGINS, SITES, type Site } from "./oauth.js";
export type { OriginHeaders } from "./origin.js";
export { MAX_PASSKEYS, type Passkey } from "./passkeys.js";
export { isRecentSignIn, RECENT_MINUTES, requireRecentSignIn } from "./recent-sign-in.js";
export { Revocations } from "./revocations.js";
export { readSecret, secretFileOf } from "./secret.js";
export {
  type EventDetail,
  SECURITY_EVENTS,
  type SecurityEvent,
  type SecurityEventName,
  type Source,
} from "./security-events.js";
export { SecurityLog } from "./security-log.js";
export { readEvents, type StoredEvent } from "./security-rows.js";

/** Somebody who is signed in. */
export interface Account {
  id: string;
  email: string;
  /** From the site of the first sign-in; empty without one. */
  name: string;
  createdAt: number;
  sessionId: string;
  /** When its owner signed in. */
  sessionCreatedAt: number;
  sessionExpiresAt: number;
}

/** Somebody who has just signed in, and the cookies to set. */
export interface SignedIn {
  account: Account;
  cookies: string[];
  /** The path to continue to: the one with which the link was requested. */
  next: string;
  /** Whether the account was created by this sign-in. */
  isNew: boolean;
}

export interface AccountsOptions {
  database: Database;
  keys: ApiKeys;
  clock: Clock;
  log: Logger;
  config: Pick<
    Config,
    "baseUrl" | "allowedHosts" | "authSecret" | "databaseUrl" | "dataDir" | "github" | "google" | "mail"
  >;
}

export class Accounts {
  readonly passkeys: Passkeys;
  readonly erasure: Erasure;
  readonly #options: AccountsOptions;
  readonly #mailer: Mailer | undefined;
  readonly #quota: LinkQuota;
  readonly #links: DeferredTasks;
  /** By the hash of the session cookie. */
  readonly #sessions: TtlCache<Account>;
  #library: Promise<Library> | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.passkeys = new Passkeys(options);
    this.erasure = new Erasure(options);
    const { clock, keys } = options;
    this.#sessions = new TtlCache({ clock, revocations: keys.revocations });
    this.#quota = new LinkQuota(options.clock);
    this.#links = new DeferredTasks(options.log, "a sign-in link could not be made");
    const { mail } = options.config;
    this.#mailer = mail === undefined ? undefined : new Mailer(mail, options.log);
  }

  /** Available ways to sign in. Without a mail server, links are written to the log, and only on a loopback address. */
  get methods(): { mail: boolean; sites: Site[] } {
    const { config } = this.#options;
    return {
      mail: this.#mailer !== undefined || isLoopback(config.baseUrl),
      sites: SITES.filter((site) => config[site] !== undefined),
    };
  }

  /** Whether links are written to the log instead of being mailed. */
  get isMailLogged(): boolean {
    return this.#mailer === undefined && this.methods.mail;
  }

  /** How long a link is valid. */
  get linkSeconds(): number {
    return LINK_MS / 1_000;
  }

  /** Whether a request that changes something comes from our own pages, or from a program without cookies. */
  isOwnOrigin(headers: OriginHeaders): boolean {
    const { baseUrl, allowedHosts } = this.#options.config;
    return isOwnOrigin(headers, { baseUrl, isHostChecked: allowedHosts !== undefined });
  }

  /** The path to continue to after signing in; undefined for one that leads to another origin. */
  safeNext(next: string): string | undefined {
    return safeNext(next, this.#options.config.baseUrl);
  }

  /** Reads the secret, so that a wrong one is reported at startup. */
  async open(): Promise<void> {
    const { config, database } = this.#options;
    await readSecret(config, database);
    const { mail, sites } = this.methods;
    if (!mail) this.#options.log.warn({ sites }, "sign-in by mail is off: no mail server is configured");
  }

  /** Loads what sign-in needs, so that the first request of an account need not wait for it. Never throws. */
  async load(): Promise<void> {
    await this.#opened().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, "sign-in is not ready; the next use tries again");
    });
  }

  /**
   * Mails a link that signs in and continues to `next`, a safe path. `browser`: a secret kept by the requesting browser, if
   * any. Behaves the same for every address, known or not, over its quota or not: the work is done later. Throws FORBIDDEN
   * where sign-in by mail is off.
   */
  requestLink(address: string, next: string, browser?: string): void {
    if (!this.methods.mail)
      throw new AppError("FORBIDDEN", "Sign-in by e-mail is off here: no mail server is configured.");
    const email = address.toLowerCase();
    if (!this.#quota.take(email)) return;
    const metadata = { next, ...(browser === undefined ? {} : { browser: hashToken(browser) }) };
    this.#links.add(async () => {
      const library = await this.#opened();
      await library.api.signInMagicLink({ body: { email, metadata }, headers: new Headers() });
      await this.#removeExpired(library);
    });
  }

  /**
   * Whether the browser with this secret requested the link. Does not use up the link. Undefined for one that is malformed,
   * unknown, used, expired, or closed to other browsers after five wrong addresses.
   */
  async isLinkOf(token: string, browser: string | undefined): Promise<boolean | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    return new LinkGuard(await this.#opened()).isAskedBy(token, browser);
  }

  /** Whether a link was sent to this address; at most five tries per link. Undefined as for `isLinkOf`. */
  async isLinkTo(token: string, address: string): Promise<boolean | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    return new LinkGuard(await this.#opened()).isSentTo(token, address);
  }

  /**
   * Signs in with the token of a link, which works once. Undefined for one that is malformed, unknown, used or expired. For a
   * browser, check `isLinkOf` or `isLinkTo` first.
   */
  async signInByLink(token: string): Promise<SignedIn | undefined> {
    if (tokenPrefix(token) !== "sidl") return undefined;
    const library = await this.#opened();
    const next = (await new LinkGuard(library).nextOf(token)) ?? "/";
    const beganAt = libraryNow().getTime();
    const headers = new Headers();
    const response = await library.api.magicLinkVerify({ query: { token }, headers, asResponse: true });
    if (response.status >= 500) throw unavailable();
    if (response.status !== 200) return undefined;
    const cookies = response.headers.getSetCookie();
    const account = await this.find(cookieHeader(cookies));
    return account === undefined
      ? undefined
      : { account, cookies, next, isNew: account.createdAt >= beganAt };
  }

  /**
   * Signs in with a passkey and ends the session that the browser had: `cookie` is its Cookie header. Undefined for one that is
   * not accepted: unknown or removed, for another challenge, browser or site, or used without a PIN or biometrics.
   */
  async signInByPasskey(
    assertion: Assertion,
    { cookie = "" }: { cookie: string | undefined },
  ): Promise<Omit<SignedIn, "next"> | undefined> {
    const cookies = await this.passkeys.signIn(assertion, cookie);
    const account = cookies === undefined ? undefined : await this.find(cookieHeader(cookies));
    if (cookies === undefined || account === undefined) return undefined;
    const earlier = await this.find(cookie);
    if (earlier !== undefined) await this.signOut(earlier);
    return { account, cookies, isNew: false };
  }

  /** Starts signing in with a site, and continues to `next`, a safe path. Throws NOT_FOUND where the site is not configured. */
  async startOAuth(site: Site, next: string): Promise<OAuthRedirect> {
    if (!this.methods.sites.includes(site))
      throw new AppError("NOT_FOUND", "Sign-in with this site is not configured here.");
    return startOAuth(await this.#opened(), this.#options.config.baseUrl, { site, next });
  }

  /**
   * Handles the callback of a site: signs in and redirects to `next`, or to a page that says that it failed. `signedIn`: who
   * signed in; undefined if it failed.
   */
  async finishOAuth(
    site: Site,
    query: Record<string, string>,
    cookie: string,
  ): Promise<OAuthRedirect & { signedIn: Pick<SignedIn, "account" | "isNew"> | undefined }> {
    const failed = { cookies: [], location: failedUrl(this.#options.config.baseUrl), signedIn: undefined };
    const beganAt = libraryNow().getTime();
    if (!this.methods.sites.includes(site)) return failed;
    const { cookies, location } = await finishOAuth(await this.#opened(), { site, query, cookie });
    const account = await this.find(cookieHeader(cookies));
    if (account === undefined || location === null) return { ...failed, cookies };
    return { cookies, location, signedIn: { account, isNew: account.createdAt >= beganAt } };
  }

  /** The account whose session is in this Cookie header; undefined for none. Reads the database each time. */
  async find(cookie: string | undefined): Promise<Account | undefined> {
    const own = sessionCookie(cookie, this.#cookieName);
    if (own === undefined) return undefined;
    return this.#sessions.refresh(hashToken(own), () => this.#read(own));
  }

  /**
   * The id of the account of a session, at most five seconds old; costs nothing right after `find`. Good enough to count a
   * request against a limit, but not to grant access: that takes `find`.
   */
  async findId(cookie: string | undefined): Promise<string | undefined> {
    const own = sessionCookie(cookie, this.#cookieName);
    if (own === undefined) return undefined;
    return (await this.#sessions.find(hashToken(own), () => this.#read(own)))?.id;
  }

  /** Whether `findId` reads nothing, or the session in this Cookie header was found in the last ten minutes. */
  isFamiliar(cookie: string): boolean {
    const own = sessionCookie(cookie, this.#cookieName);
    return own === undefined || this.#sessions.isFamiliar(hashToken(own));
  }

  /** The sites with which an account has signed in. */
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
    this.#options.keys.revocations.announce();
    return [this.clearingCookie];
  }

  /** Ends all sessions of an account. Returns the cookies to set. */
  async signOutEverywhere({ id }: Account): Promise<string[]> {
    await sql`delete from sessions where account_id = ${id}`.execute(this.#options.database.durable);
    this.#options.keys.revocations.announce();
    return [this.clearingCookie];
  }

  /**
   * Deletes an account for good, with its sessions, keys and watchlist. The files of the database forget it soon after. Returns
   * the cookies to set.
   */
  async remove({ id }: Account): Promise<string[]> {
    const { database, keys } = this.#options;
    await database.durable.deleteFrom("accounts").where("id", "=", id).execute();
    keys.revocations.announce();
    this.erasure.start();
    return [this.clearingCookie];
  }

  /** A cookie that removes the session from a browser. */
  get clearingCookie(): string {
    const { path, secure } = this.#cookies;
    return `${this.#cookieName}=; Max-Age=0; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** Waits for pending links and mail. */
  async close(): Promise<void> {
    await Promise.all([this.#links.settled(), this.erasure.settled()]);
    await this.#mailer?.close();
  }

  get #cookies(): CookieScope {
    return cookieScope(this.#options.config.baseUrl);
  }

  get #cookieName(): string {
    return `${this.#cookies.prefix}sidereal.session_token`;
  }

  async #read(cookie: string): Promise<Account | undefined> {
    const library = await this.#opened();
    // The library replaces the error of a failed query.
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
      sessionCreatedAt: session.createdAt.getTime(),
      sessionExpiresAt: session.expiresAt.getTime(),
    };
  }

  #opened(): Promise<Library> {
    this.#library ??= this.#openLibrary().catch((error: unknown) => {
      this.#library = undefined;
      throw error;
    });
    return this.#library;
  }

  async #openLibrary(): Promise<Library> {
    const { database, config, log } = this.#options;
    const secret = await readSecret(config, database);
    // Imported on first use: loading it takes as long as loading the rest of the program, and most commands need no accounts.
    const { openLibrary } = await import("./library.js");
    return openLibrary({ database, config, secret, log, onLink: (link) => this.#sendLink(link) });
  }

  /** The address has nothing in it that the sender of the request chose: links are sent to people who may not have asked. */
  #sendLink({ email, token }: { email: string; token: string }): void {
    const { config, log } = this.#options;
    const link = new URL(`${config.baseUrl}/sign-in/link`);
    link.searchParams.set("token", token);
    if (this.#mailer === undefined) {
      log.warn({ link: link.href }, "no mail server is configured; this link signs in");
      return;
    }
    this.#mailer.send(linkMail(email, link));
  }

  /** Deletes expired links and sessions; called with each new link. */
  async #removeExpired(library: Library): Promise<void> {
    const { adapter } = await library.$context;
    const where = [{ field: "expiresAt", operator: "lt" as const, value: libraryNow() }];
    await adapter.deleteMany({ model: "verification", where });
    await adapter.deleteMany({ model: "session", where });
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError("UNAVAILABLE", "Sessions cannot be looked up now; try again.", { cause });
}

/** The Cookie header that a browser sends after these Set-Cookie headers. */
function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(";")[0] ?? "").join("; ");
}
