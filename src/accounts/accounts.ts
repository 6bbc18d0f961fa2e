/**
 * Accounts: sign-in by a link or code in a mail, with a passkey, or with GitHub and Google if configured; sessions; API keys and their
 * usage; the events of accounts. Better Auth implements the protocols on our tables; none of its routes are served. Links and sessions
 * are stored as hashes. An account is an e-mail address that its owner has proven to read, or that a site has verified.
 */
import { sql } from "kysely";
import { AppError } from "../lib/errors.js";
import { isPrivateHost } from "../lib/host-names.js";
import { createToken, hashToken } from "../lib/tokens.js";
import type { AccountEvents } from "./account-events.js";
import { removeAccount } from "./administration.js";
import type { AccountsContext } from "./context.js";
import type { Library } from "./library.js";
import { MailSignIn } from "./mail-sign-in.js";
import type { CodeProof } from "./one-time-codes.js";
import { OPERATOR_SESSION_MS } from "./operators.js";
import { type Assertion, Passkeys } from "./passkeys.js";
import { removeEndedUse } from "./quotas.js";
import { readSecret } from "./secret.js";
import { type Client, cookieHeader, libraryNow, Sessions } from "./sessions.js";
import { TtlCache } from "./ttl-cache.js";

export {
  ACCOUNT_EVENTS,
  AccountEvents,
  actorWords,
  addressesIn,
  agentOf,
  detailWords,
  type EventQuery,
  eventWords,
  insertEvent,
  networkWords,
  OPERATOR_EVENTS,
  type OperatorEventName,
  type RefusedRequest,
  readEvents,
  type Source,
  type StoredEvent,
} from "./account-events.js";
export { addressesOf, emailField, findAccountId } from "./addresses.js";
export {
  type AccountRow,
  countOperatorSessions,
  countSessions,
  findAccount,
  holdingWords,
  listAccounts,
  removeAccount,
} from "./administration.js";
export { type ApiKey, ApiKeys, type KeyHolder, MAX_KEYS } from "./api-keys.js";
export { type Ban, Bans, type BanTarget, MAX_BAN_REASON } from "./bans.js";
export type { AccountsContext } from "./context.js";
export { type MailUse, readMailUse } from "./mail.js";
export { CODE_LENGTH, CODE_MS, createBrowserSecret, typedCode } from "./one-time-codes.js";
export {
  createOperatorUrl,
  endSessionsOf,
  OPERATOR_COOKIE,
  OPERATOR_MS,
  OPERATOR_SESSION_MS,
  type Operator,
  Operators,
  refuseOperator,
} from "./operators.js";
export { isOwnOrigin, safeNext } from "./origin.js";
export { MAX_PASSKEYS, type Passkey } from "./passkeys.js";
export { type Adding, DailyQuotas, type Repeatable } from "./quotas.js";
export { readSecret, SECRET_MARK, secretFileOf } from "./secret.js";
export { isRecentSignIn, RECENT_MINUTES, requireRecentSignIn, type Session } from "./sessions.js";
export { Revocations } from "./ttl-cache.js";
export { type KeyedRequest, Usage } from "./usage.js";
export { pruneUsage, type UsageEvent } from "./usage-rows.js";
export { OTHER_AGENT, USAGE_WINDOWS, type UsageView, type UsageWindow } from "./usage-view.js";

/** Sites with which somebody can sign in, if configured. */
export const SITES = ["github", "google"] as const;
export type Site = (typeof SITES)[number];

/** The sign-in origin of each site, for the Content-Security-Policy of pages with a sign-in form. */
export const SITE_ORIGINS: Readonly<Record<Site, string>> = {
  github: "https://github.com",
  google: "https://accounts.google.com",
};

/** How long a token for the sign-in library is valid; it is used immediately. */
const TOKEN_MS = 60_000;

/** Somebody who is signed in. */
export interface Account {
  id: string;
  email: string;
  /** From the site of the first sign-in; empty without one. */
  name: string;
  createdAt: number;
  sessionId: string;
  sessionCreatedAt: number;
  sessionExpiresAt: number;
}

/** Somebody who has just signed in, and the cookies to set. */
export interface SignedIn {
  account: Account;
  cookies: string[];
}

/** The address at which a browser continues, and the cookies to set. */
interface SiteRedirect {
  cookies: string[];
  location: string;
}

interface SignIn {
  method: "link" | "code" | "passkey" | Site;
  beganAt: number;
  client: Client;
}

export class Accounts {
  readonly mail: MailSignIn;
  readonly passkeys: Passkeys;
  readonly sessions: Sessions;
  /** By the hash of the session cookie. */
  readonly #found: TtlCache<Account>;
  #library: Promise<Library> | undefined;

  constructor(
    private readonly context: AccountsContext,
    private readonly events: AccountEvents,
  ) {
    this.mail = new MailSignIn(context);
    this.passkeys = new Passkeys(context, () => this.#opened());
    this.sessions = new Sessions(context);
    this.#found = new TtlCache(context.clock, context.revocations);
  }

  get sites(): Site[] {
    return SITES.filter((site) => this.context.config[site] !== undefined);
  }

  /** Reads the secret, so that a wrong one is reported at startup, and warns of settings that sign-in needs. */
  async open(): Promise<void> {
    const { config, log } = this.context;
    await readSecret(this.context);
    if (!this.mail.isOn)
      log.warn({ sites: this.sites }, "sign-in by mail is off: no mail server is configured");
    const { protocol, hostname } = new URL(config.baseUrl);
    if (protocol === "http:" && !isPrivateHost(hostname))
      log.warn(
        { baseUrl: config.baseUrl },
        "SIDEREAL_BASE_URL is a public address without https: anyone on the network path can hijack sessions",
      );
  }

  /** Loads the libraries of sign-in, so that the first request of an account need not wait for it. Never throws. */
  async load(): Promise<void> {
    await this.#opened().catch((error: unknown) => {
      this.context.log.warn({ err: error }, "sign-in is not ready; the next use tries again");
    });
  }

  /**
   * Signs in with the link or the code of a mail, in the browser that requested it, and ends the session it had. `next`: the path with
   * which the mail was requested. Undefined for a proof that is malformed, unknown, used, expired, tried too often, or of another browser.
   */
  async signInByMail(proof: CodeProof, client: Client): Promise<(SignedIn & { next: string }) | undefined> {
    const method = "token" in proof ? "link" : "code";
    const signIn: SignIn = { method, beganAt: libraryNow().getTime(), client };
    // Before anything is used up.
    const library = await this.#opened();
    const proven = await this.mail.codes.take(proof);
    if (proven === undefined) return this.#refuse(signIn);
    // The library takes a token for a proven address, which never leaves this process. It creates the account of a new one.
    const { internalAdapter } = await library.$context;
    const token = createToken("sidl");
    await internalAdapter.createVerificationValue({
      identifier: hashToken(token),
      value: JSON.stringify({ email: proven.email }),
      expiresAt: new Date(libraryNow().getTime() + TOKEN_MS),
    });
    const response = await library.api.magicLinkVerify({
      query: { token },
      headers: new Headers(),
      asResponse: true,
    });
    const signedIn = await this.#complete(signIn, response.headers.getSetCookie());
    if (signedIn === undefined) throw unavailable();
    return { ...signedIn, next: proven.next };
  }

  /**
   * Signs in with a passkey, and ends the session that the browser had. Undefined for one that is not accepted: unknown or
   * removed, for another challenge, browser or site, or used without a PIN or biometrics.
   */
  async signInByPasskey(assertion: Assertion, client: Client): Promise<SignedIn | undefined> {
    const signIn: SignIn = { method: "passkey", beganAt: libraryNow().getTime(), client };
    const cookies = await this.passkeys.signIn(assertion, client.headers.cookie ?? "");
    const signedIn = cookies && (await this.#complete(signIn, cookies));
    return signedIn ?? this.#refuse(signIn);
  }

  /** Starts signing in with a site, and continues to `next`, a safe path. Throws NOT_FOUND if the site is not configured. */
  async startOAuth(site: Site, next: string): Promise<SiteRedirect> {
    if (!this.sites.includes(site))
      throw new AppError("NOT_FOUND", "Sign-in with this site is not configured here.");
    const { baseUrl } = this.context.config;
    const library = await this.#opened();
    const { headers, response } = await library.api.signInSocial({
      body: { provider: site, callbackURL: `${baseUrl}${next}`, errorCallbackURL: this.#failedUrl },
      headers: new Headers(),
      returnHeaders: true,
    });
    if (response.url === undefined) throw new Error("the sign-in library returned no address to redirect to");
    return { cookies: headers.getSetCookie(), location: response.url };
  }

  /** Handles the callback of a site: signs in and redirects to `next`, or to a page that says that it failed. */
  async finishOAuth(
    site: Site,
    query: Record<string, string | undefined>,
    client: Client,
  ): Promise<SiteRedirect> {
    const signIn: SignIn = { method: site, beganAt: libraryNow().getTime(), client };
    let cookies: string[] = [];
    if (this.sites.includes(site)) {
      const library = await this.#opened();
      const { headers } = await library.api.callbackOAuth({
        method: "GET",
        params: { id: site },
        query,
        headers: new Headers({ cookie: client.headers.cookie ?? "" }),
        asResponse: true,
      });
      cookies = headers.getSetCookie();
      // Only the cookies show whether the sign-in succeeded.
      const location = headers.get("location");
      if (location !== null && (await this.#complete(signIn, cookies))) return { cookies, location };
    }
    this.#refuse(signIn);
    return { cookies, location: this.#failedUrl };
  }

  /** The account whose session is in this Cookie header; undefined for none. Reads the database each time. */
  async find(cookie: string | undefined): Promise<Account | undefined> {
    const own = this.sessions.cookieIn(cookie);
    return own === undefined
      ? undefined
      : this.#unlessBanned(await this.#found.refresh(hashToken(own), () => this.#read(own)));
  }

  /**
   * The id of the account of a session, at most five seconds old; costs nothing right after `find`. Good enough to count a
   * request against a limit, but not to grant access: that takes `find`.
   */
  async findId(cookie: string | undefined): Promise<string | undefined> {
    const own = this.sessions.cookieIn(cookie);
    return own && this.#unlessBanned(await this.#found.find(hashToken(own), () => this.#read(own)))?.id;
  }

  /** Whether `findId` reads nothing, or the session in this Cookie header was found in the last ten minutes. */
  isFamiliar(cookie: string): boolean {
    const own = this.sessions.cookieIn(cookie);
    return own === undefined || this.#found.isFamiliar(hashToken(own));
  }

  /** The sites with which an account has signed in. */
  async sitesOf(accountId: string): Promise<string[]> {
    const { rows } = await sql<{ provider: string }>`
      select provider from identities where account_id = ${accountId} order by provider`.execute(
      this.context.database.read,
    );
    return rows.map((row) => row.provider);
  }

  /** Ends any session of an account. Returns the cookies to set. Throws NOT_FOUND for one of another account, or of none. */
  async endSession({ id, sessionId }: Account, ended: string): Promise<string[]> {
    if (!(await this.sessions.end(id, ended))) throw new AppError("NOT_FOUND", "There is no such session.");
    return ended === sessionId ? [this.sessions.clearingCookie] : [];
  }

  /** Deletes an account for good with its sessions, keys and watchlist, soon also from the files. Returns the cookies to set. */
  async remove({ id, email }: Pick<Account, "id" | "email">): Promise<string[]> {
    const { database, revocations, writes } = this.context;
    // One that this process is still sending would add a request after those of the account are gone.
    await this.mail.settled();
    await removeAccount(database, { id, email });
    await revocations.announce();
    writes.add(
      () => database.dialect.eraseDeleted(database.durable),
      "deleted data could not be removed from the files of the database",
    );
    return [this.sessions.clearingCookie];
  }

  /** Deletes expired rows, also from the files of the database unless they are in use. Returns the number of sessions. */
  async removeExpired(): Promise<number> {
    const { database, clock } = this.context;
    const { dialect, durable, write } = database;
    const now = clock.now();
    await sql`delete from verifications where expires_at < ${libraryNow().toISOString()}`.execute(durable);
    await durable
      .deleteFrom("operator_sessions")
      .where("began_at", "<=", now - OPERATOR_SESSION_MS)
      .execute();
    await this.mail.codes.removeExpired();
    await removeEndedUse(write, now);
    const removed = await this.sessions.removeExpired();
    await dialect.eraseDeleted(durable);
    return removed;
  }

  /** Waits for pending mail and writes. */
  async close(): Promise<void> {
    await Promise.all([this.mail.close(), this.context.writes.flush()]);
  }

  get #failedUrl(): string {
    return `${this.context.config.baseUrl}/sign-in/failed`;
  }

  #unlessBanned(account: Account | undefined): Account | undefined {
    return account && this.context.bans.hasAccount(account.id) ? undefined : account;
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
    if (!this.sessions.recordUse(session)) return undefined;
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
    // Imported on first use, as most commands need no accounts.
    this.#library ??= import("./library.js")
      .then(({ openLibrary }) => openLibrary(this.context))
      .catch((error: unknown) => {
        this.#library = undefined;
        throw error;
      });
    return this.#library;
  }

  /** The account that has just signed in, after its sign-in is complete; undefined if the cookies set no session. */
  async #complete({ method, beganAt, client }: SignIn, cookies: string[]): Promise<SignedIn | undefined> {
    const endedOf = await this.sessions.begin(cookies, client);
    const account = await this.#read(cookieHeader(cookies));
    if (account === undefined) return undefined;
    if (this.context.bans.hasAccount(account.id)) {
      await this.sessions.endAll(account.id);
      this.#refuse({ method, beganAt, client });
      throw new AppError("FORBIDDEN", "It is not possible to sign in with this account at the moment.");
    }
    const actor = { account, source: client.source };
    if (account.createdAt >= beganAt) this.events.record("account_created", actor, { method });
    this.events.record(endedOf === account.id ? "reauthenticated" : "signed_in", actor, { method });
    return { account, cookies };
  }

  #refuse({ method, client }: SignIn): undefined {
    const { network } = client.source();
    this.events.logRefused({ event: "sign_in_refused", network, detail: { method } });
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError("UNAVAILABLE", "Sessions cannot be looked up now; try again.", { cause });
}
