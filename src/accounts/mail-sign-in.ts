import type { Clock } from "../clock.js";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import { DeferredTasks } from "./deferred-tasks.js";
import { browserIdIn, markBrowser } from "./known-browser.js";
import { findAccountId } from "./lookup.js";
import type { Mailer } from "./mail.js";
import { type MailLimit, MailLimits } from "./mail-limits.js";
import { isLoopback } from "./origin.js";
import type { Source } from "./security-events.js";
import { signInMail } from "./sign-in-mail.js";
import { LINK_MS, type MailProof, type Requested, SignInRequests } from "./sign-in-requests.js";

/** The browser or program that requests a mail. */
export interface MailRequester {
  /** The secret that identifies it. */
  browser: string;
  /** The mark of an earlier sign-in, if it has one. */
  mark?: string | undefined;
  source: Source;
}

export interface MailSignInOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  config: Pick<Config, "baseUrl" | "mailLimits">;
  /** Undefined: mails are written to the log, and only on a loopback address. */
  mailer: Mailer | undefined;
  readSecret: () => Promise<string>;
}

/**
 * Sign-in by mail: sends a link and a code, and checks them. Responses to requests are the same, and as fast, for every address,
 * known or not, within the limits or not: the work is done later.
 */
export class MailSignIn {
  readonly #options: MailSignInOptions;
  readonly #requests: SignInRequests;
  readonly #limits: MailLimits;
  readonly #tasks: DeferredTasks;

  constructor(options: MailSignInOptions) {
    const { config, log } = options;
    this.#options = options;
    this.#requests = new SignInRequests(options);
    this.#limits = new MailLimits({ ...options, limits: config.mailLimits });
    this.#tasks = new DeferredTasks(log, "a mail to sign in with could not be made");
  }

  get isOn(): boolean {
    return this.#options.mailer !== undefined || isLoopback(this.#options.config.baseUrl);
  }

  /** Whether links and codes are written to the log instead of being mailed. */
  get isLogged(): boolean {
    return this.#options.mailer === undefined && this.isOn;
  }

  /** How long a link and its code are valid. */
  get linkSeconds(): number {
    return LINK_MS / 1_000;
  }

  /** Mails a link and a code that sign in and continue to `next`, a safe path. Throws FORBIDDEN where sign-in by mail is off. */
  request(address: string, next: string, requester: MailRequester): void {
    this.#requireOn();
    this.#tasks.add(() => this.#send({ email: address.toLowerCase(), next }, requester));
  }

  /** Mails another link and code for what this browser requested last, if that has not expired or been used. Throws FORBIDDEN as above. */
  requestAgain(requester: MailRequester): void {
    this.#requireOn();
    this.#tasks.add(async () => {
      const latest = await this.#requests.latestOf(requester.browser);
      if (latest !== undefined) await this.#send(latest, requester);
    });
  }

  /** Whether this browser requested a link; see `SignInRequests.isOf`. */
  isLinkOf(token: string, browser: string | undefined): Promise<boolean | undefined> {
    return this.#requests.isOf(token, browser);
  }

  /** Uses up a link or code; see `SignInRequests.take`. */
  take(proof: MailProof): Promise<Requested | undefined> {
    return this.#requests.take(proof);
  }

  /** The mark for a browser in which this address has just signed in. */
  async markFor(email: string): Promise<string> {
    return markBrowser(await this.#options.readSecret(), email);
  }

  /** Deletes expired requests and counts that no limit needs. */
  async removeExpired(): Promise<void> {
    await this.#requests.removeExpired();
    await this.#limits.removeExpired();
  }

  /** Waits for pending requests. */
  async settled(): Promise<void> {
    await this.#tasks.settled();
  }

  async #send({ email, next }: Requested, { browser, mark, source }: MailRequester): Promise<void> {
    const { database, readSecret } = this.#options;
    const browserId = browserIdIn(mark, { secret: await readSecret(), email });
    const { network } = source;
    try {
      const made = await database.durable.transaction().execute(async (tx) => {
        const hasAccount = (await findAccountId(tx, email)) !== undefined;
        const standing = browserId !== undefined ? "known" : hasAccount ? "account" : "new";
        const limit = await this.#limits.count(tx, { email, standing, network, browserId });
        if (limit !== undefined) throw new LimitReached(limit);
        return this.#requests.add(tx, { email, next, browser });
      });
      this.#deliver(email, made);
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      await this.#limits.noteRefused(error.limit);
    }
  }

  /** The mail has nothing in it that the sender of the request chose: it goes to people who may not have asked. */
  #deliver(email: string, { token, code }: { token: string; code: string }): void {
    const { config, log, mailer } = this.#options;
    const link = new URL(`${config.baseUrl}/sign-in/link`);
    link.searchParams.set("token", token);
    if (mailer === undefined) {
      log.warn({ link: link.href, code }, "no mail server is configured; this link signs in");
      return;
    }
    mailer.send(signInMail(email, { link, code }));
  }

  #requireOn(): void {
    if (!this.isOn)
      throw new AppError("FORBIDDEN", "Sign-in by e-mail is off here: no mail server is configured.");
  }
}

/** Rolls the counts back. */
class LimitReached extends Error {
  readonly limit: MailLimit;

  constructor(limit: MailLimit) {
    super(`a limit of mails is reached: ${limit}`);
    this.limit = limit;
  }
}
