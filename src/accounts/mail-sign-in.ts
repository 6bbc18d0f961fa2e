import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { findAccountId } from "./addresses.js";
import { DeferredTasks } from "./deferred-tasks.js";
import type { Mail, Mailer } from "./mail.js";
import { type MailLimit, MailLimits, personOf } from "./mail-limits.js";
import { isLoopback } from "./origin.js";
import type { Source } from "./security-events.js";
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

  /** The mail has no text chosen by the sender of the request: it may go to people who did not request it. */
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

/**
 * A mark that a browser keeps after signing in by mail: a random id, and an HMAC of it with the address. With it the browser has
 * its own limit of mails, so that nobody who requests mails for this address elsewhere can keep its owner out. It
 * grants nothing else.
 */
export function markBrowser(secret: string, email: string): string {
  const id = randomBytes(12).toString("hex");
  return `${id}.${sign(secret, id, email)}`;
}

/** The id in a mark of a browser in which this address has signed in; undefined for any other mark. */
export function browserIdIn(
  mark: string | undefined,
  { secret, email }: { secret: string; email: string },
): string | undefined {
  const [, id = "", signature = ""] = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(mark ?? "") ?? [];
  if (id === "") return undefined;
  const expected = sign(secret, id, email);
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? id : undefined;
}

function sign(secret: string, id: string, email: string): string {
  return createHmac("sha256", secret)
    .update(`known browser ${id} ${personOf(email)}`)
    .digest("base64url");
}

/** The mail to sign in with: a code first, as many read their mail on another device, then a link. */
function signInMail(to: string, { link, code }: { link: URL; code: string }): Mail {
  const text = `Somebody, probably you, wants to sign in to ${link.host} with this address. The code is:

    ${spaced(code)}

Type it on the page that asks for it. Or open this link in the browser in which you requested it, and press the button:

${link.href}

Code and link work once, for ${LINK_MS / 60_000} minutes, and only in that browser. Never tell anybody the code: whoever has it and
requested it can sign in as you. If it was not you, ignore this mail.
`;
  return { to, subject: `Sign in to ${link.host}`, text };
}

/** A code in two groups, which are easier to read and type. */
function spaced(code: string): string {
  const half = code.length / 2;
  return `${code.slice(0, half)} ${code.slice(half)}`;
}
