/**
 * Accounts: sign-in by a link or code in a mail, with a passkey, or with GitHub and Google where configured; sessions; API keys;
 * removal. Better Auth implements the protocols on our tables; none of its routes are served. Links and sessions are stored as
 * hashes. An account is an e-mail address that its owner has proven to read, or that a site has verified.
 */
import { sql } from "kysely";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import { type CookieScope, cookieScope } from "../lib/base-url.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { isPrivateHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { hashToken } from "../lib/tokens.js";
import type { ApiKeys } from "./api-keys.js";
import { Erasure } from "./erasure.js";
import type { Library } from "./library.js";
import {
  failedUrl,
  finishOAuth,
  type OAuthRedirect,
  SITES,
  type Site,
  signInVerified,
  startOAuth,
} from "./library-sign-in.js";
import { libraryNow } from "./library-time.js";
import { Mailer } from "./mail.js";
import { MailSignIn, type MailSignInOptions } from "./mail-sign-in.js";
import { isOwnOrigin, type OriginHeaders, safeNext } from "./origin.js";
import { type Assertion, Passkeys, type PasskeysOptions } from "./passkeys.js";
import { readSecret } from "./secret.js";
import { type Client, cookieHeader, Sessions, sessionCookie } from "./sessions.js";
import type { MailProof } from "./sign-in-requests.js";
import { TtlCache } from "./ttl-cache.js";

export { addressesOf, emailField, findAccountId } from "./addresses.js";
export { Agents } from "./agents.js";
export { type ApiKey, ApiKeys, type KeyHolder, MAX_KEYS } from "./api-keys.js";
export { Callers, networkOf, truncatedAddress } from "./callers.js";
export { type Adding, DailyQuotas, forgetEarlierDays } from "./daily-quota.js";
export { EventMails } from "./event-mails.js";
export { SITE_ORIGINS, SITES, type Site } from "./library-sign-in.js";
export { isRecentSignIn, RECENT_MINUTES, requireRecentSignIn } from "./library-time.js";
export { type MailUse, readMailUse } from "./mail-limits.js";
export { CODE_MS, OPERATOR_MS, type Operator, Operators } from "./operators.js";
export { MAX_PASSKEYS, type Passkey } from "./passkeys.js";
export { readSecret, SECRET_MARK, secretFileOf } from "./secret.js";
export {
  agentOf,
  describeEvent,
  detailWords,
  EVENT_WORDS,
  type EventDetail,
  SECURITY_EVENTS,
  type SecurityEvent,
  type SecurityEventName,
  type Source,
} from "./security-events.js";
export { SecurityLog } from "./security-log.js";
export { readEvents, type StoredEvent } from "./security-rows.js";
export { endSessionsOf, type Session } from "./sessions.js";
export { CODE_LENGTH, createBrowserSecret, typedCode } from "./sign-in-requests.js";
export { Revocations } from "./ttl-cache.js";
export { type KeyedRequest, Usage } from "./usage.js";
export type { UsageEvent } from "./usage-rows.js";
export { USAGE_WINDOWS, type UsageView, type UsageWindow } from "./usage-view.js";

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
  /** The path to continue to: the one with which the mail was requested. */
  next: string;
  /** Whether the account was created by this sign-in. */
  isNew: boolean;
  /** Whether the browser had a session of the same account, which has ended. */
  isAgain: boolean;
}

export interface AccountsOptions {
  database: Database;
  keys: ApiKeys;
  clock: Clock;
  log: Logger;
  config: PasskeysOptions["config"] & MailSignInOptions["config"] & Pick<Config, "allowedHosts" | "mail">;
}

export class Accounts {
  readonly mail: MailSignIn;
  readonly passkeys: Passkeys;
  readonly erasure: Erasure;
  readonly sessions: Sessions;
  readonly #options: AccountsOptions;
  readonly #mailer: Mailer | undefined;
  /** By the hash of the session cookie. */
  readonly #found: TtlCache<Account>;
  #secret: string | undefined;
  #library: Promise<Library> | undefined;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.passkeys = new Passkeys(options);
    this.erasure = new Erasure(options);
    const { clock, log } = options;
    const { revocations } = options.keys;
    this.#found = new TtlCache({ clock, revocations });
    this.sessions = new Sessions({ ...options, revocations, cookieName: this.#cookieName });
    const { mail } = options.config;
    this.#mailer = mail === undefined ? undefined : new Mailer(mail, log);
    this.mail = new MailSignIn({ ...options, mailer: this.#mailer, readSecret: () => this.#readSecret() });
  }

  /** Available ways to sign in. Without a mail server, links are written to the log, and only on a loopback address. */
  get methods(): { mail: boolean; sites: Site[] } {
    const { config } = this.#options;
    return {
      mail: this.mail.isOn,
      sites: SITES.filter((site) => config[site] !== undefined),
    };
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

  /** Reads the secret, so that a wrong one is reported at startup, and warns of what sign-in lacks. */
  async open(): Promise<void> {
    await this.#readSecret();
    const { mail, sites } = this.methods;
    if (!mail) this.#options.log.warn({ sites }, "sign-in by mail is off: no mail server is configured");
    const { protocol, hostname } = new URL(this.#options.config.baseUrl);
    if (protocol === "http:" && !isPrivateHost(hostname))
      this.#options.log.warn(
        { baseUrl: this.#options.config.baseUrl },
        "SIDEREAL_BASE_URL is a public address without https: anyone on the network path can hijack sessions",
      );
  }

  /** Loads what sign-in needs, so that the first request of an account need not wait for it. Never throws. */
  async load(): Promise<void> {
    await this.#opened().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, "sign-in is not ready; the next use tries again");
    });
  }

  /**
   * Signs in with the link or the code of a mail, in the browser that requested it, and ends the session it had. Undefined for
   * one that is malformed, unknown, used, expired, tried too often, or of another browser.
   */
  async signInByMail(proof: MailProof, client: Client): Promise<SignedIn | undefined> {
    // Before anything is used up.
    const library = await this.#opened();
    const proven = await this.mail.take(proof);
    if (proven === undefined) return undefined;
    const beganAt = libraryNow().getTime();
    const response = await signInVerified(library, proven.email);
    if (response.status !== 200) throw unavailable();
    const cookies = response.headers.getSetCookie();
    const begun = await this.#begin(cookies, client);
    if (begun === undefined) throw unavailable();
    return { ...begun, cookies, next: proven.next, isNew: begun.account.createdAt >= beganAt };
  }

  /**
   * Signs in with a passkey, and ends the session that the browser had. Undefined for one that is not accepted: unknown or
   * removed, for another challenge, browser or site, or used without a PIN or biometrics.
   */
  async signInByPasskey(assertion: Assertion, client: Client): Promise<Omit<SignedIn, "next"> | undefined> {
    const cookies = await this.passkeys.signIn(assertion, client.cookie ?? "");
    const begun = cookies === undefined ? undefined : await this.#begin(cookies, client);
    return cookies && begun && { ...begun, cookies, isNew: false };
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
    client: Client,
  ): Promise<OAuthRedirect & { signedIn: Pick<SignedIn, "account" | "isNew" | "isAgain"> | undefined }> {
    const failed = { cookies: [], location: failedUrl(this.#options.config.baseUrl), signedIn: undefined };
    const beganAt = libraryNow().getTime();
    if (!this.methods.sites.includes(site)) return failed;
    const { cookies, location } = await finishOAuth(await this.#opened(), {
      site,
      query,
      cookie: client.cookie ?? "",
    });
    const begun = await this.#begin(cookies, client);
    if (begun === undefined || location === null) return { ...failed, cookies };
    return { cookies, location, signedIn: { ...begun, isNew: begun.account.createdAt >= beganAt } };
  }

  /** The account whose session is in this Cookie header; undefined for none. Reads the database each time. */
  async find(cookie: string | undefined): Promise<Account | undefined> {
    const own = sessionCookie(cookie, this.#cookieName);
    if (own === undefined) return undefined;
    return this.#found.refresh(hashToken(own), () => this.#read(own));
  }

  /**
   * The id of the account of a session, at most five seconds old; costs nothing right after `find`. Good enough to count a
   * request against a limit, but not to grant access: that takes `find`.
   */
  async findId(cookie: string | undefined): Promise<string | undefined> {
    const own = sessionCookie(cookie, this.#cookieName);
    if (own === undefined) return undefined;
    return (await this.#found.find(hashToken(own), () => this.#read(own)))?.id;
  }

  /** Whether `findId` reads nothing, or the session in this Cookie header was found in the last ten minutes. */
  isFamiliar(cookie: string): boolean {
    const own = sessionCookie(cookie, this.#cookieName);
    return own === undefined || this.#found.isFamiliar(hashToken(own));
  }

  /** The sites with which an account has signed in. */
  async sitesOf(accountId: string): Promise<string[]> {
    const { rows } = await sql<{ provider: string }>`
      select provider from identities where account_id = ${accountId} order by provider`.execute(
      this.#options.database.read,
    );
    return rows.map((row) => row.provider);
  }

  /** Ends the session of a browser. Returns the cookies to set. */
  async signOut({ id, sessionId }: Account): Promise<string[]> {
    await this.sessions.end(id, sessionId);
    return [this.clearingCookie];
  }

  /** Ends any session of an account. Returns the cookies to set. Throws NOT_FOUND for one of another account, or of none. */
  async endSession({ id, sessionId }: Account, ended: string): Promise<string[]> {
    if (!(await this.sessions.end(id, ended))) throw new AppError("NOT_FOUND", "There is no such session.");
    return ended === sessionId ? [this.clearingCookie] : [];
  }

  /** Ends all sessions of an account. Returns the cookies to set. */
  async signOutEverywhere({ id }: Account): Promise<string[]> {
    await this.sessions.endAll(id);
    return [this.clearingCookie];
  }

  /**
   * Deletes an account for good, with its sessions, keys and watchlist. The files of the database forget it soon after. Returns
   * the cookies to set.
   */
  async remove({ id, email }: Account): Promise<string[]> {
    const { database, keys } = this.#options;
    // One that this process is still sending would add a request after those of the account are gone.
    await this.mail.settled();
    await database.durable.transaction().execute(async (tx) => {
      await tx.deleteFrom("accounts").where("id", "=", id).execute();
      await tx.deleteFrom("sign_in_requests").where("email", "=", email).execute();
    });
    await keys.revocations.announce();
    this.erasure.start();
    return [this.clearingCookie];
  }

  /** A cookie that removes the session from a browser. */
  get clearingCookie(): string {
    const { path, secure } = this.#cookies;
    return `${this.#cookieName}=; Max-Age=0; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  }

  /** Deletes sessions, mails to sign in with and sign-ins in progress that have expired. Returns the number of sessions. */
  async removeExpired(signal: AbortSignal): Promise<number> {
    // On the connection that overwrites deleted rows, as these hold addresses.
    const { durable } = this.#options.database;
    await sql`delete from verifications where expires_at < ${libraryNow().toISOString()}`.execute(durable);
    await this.mail.removeExpired();
    return this.sessions.removeExpired(signal);
  }

  /** Waits for pending mail and writes. */
  async close(): Promise<void> {
    await Promise.all([this.mail.settled(), this.erasure.settled()]);
    await this.#mailer?.close();
    await this.sessions.flush();
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
    if (this.sessions.isIdle(session.seenAt)) return undefined;
    this.sessions.recordUse(session);
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
    const secret = await this.#readSecret();
    // Imported on first use: loading it takes as long as loading the rest of the program, and most commands need no accounts.
    const { openLibrary } = await import("./library.js");
    return openLibrary({ database, config, secret, log });
  }

  async #readSecret(): Promise<string> {
    this.#secret ??= await readSecret(this.#options.config, this.#options.database);
    return this.#secret;
  }

  /** The account that has just signed in, after the rest of its sign-in is done; undefined if the cookies set no session. */
  async #begin(
    cookies: readonly string[],
    client: Client,
  ): Promise<Pick<SignedIn, "account" | "isAgain"> | undefined> {
    const endedOf = await this.sessions.begin(cookies, client);
    const account = await this.find(cookieHeader(cookies));
    return account && { account, isAgain: endedOf === account.id };
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError("UNAVAILABLE", "Sessions cannot be looked up now; try again.", { cause });
}
