import { AppError } from "../lib/errors.js";
import type { AccountsContext } from "./context.js";
import { DeferredTasks } from "./deferred-tasks.js";
import { type Mail, Mailer } from "./mail.js";
import { CODE_MS, type CodeRequest, OneTimeCodes, spacedCode } from "./one-time-codes.js";
import { isLoopback } from "./origin.js";

/**
 * Sign-in by mail: sends a link and a code. Responses to requests are the same, and as fast, for every address, known or not, within
 * the limits or not: the work is done later.
 */
export class MailSignIn {
  readonly codes: OneTimeCodes;
  readonly #mailer: Mailer;
  readonly #tasks: DeferredTasks;

  constructor(private readonly context: AccountsContext) {
    this.codes = new OneTimeCodes(context);
    this.#mailer = new Mailer(context, "sign-in");
    this.#tasks = new DeferredTasks(context.log, "a mail to sign in with could not be made");
  }

  get isOn(): boolean {
    return this.#mailer.isOn || this.isLogged;
  }

  /** Whether links and codes are written to the log instead of being mailed: without a mail server, and only on a loopback address. */
  get isLogged(): boolean {
    return !this.#mailer.isOn && isLoopback(this.context.config.baseUrl);
  }

  /** Mails a link and a code that sign in this browser and continue to `next`, a safe path. Throws FORBIDDEN if sign-in by mail is off. */
  request(address: string, next: string, browser: string): void {
    this.#requireOn();
    this.#tasks.add(() => this.#send(browser, { email: address.toLowerCase(), next }));
  }

  /** Mails another link and code for the last request of this browser, if that has not expired or been used. Throws FORBIDDEN as above. */
  requestAgain(browser: string): void {
    this.#requireOn();
    this.#tasks.add(async () => {
      const latest = await this.codes.latestOf(browser);
      if (latest !== undefined) await this.#send(browser, latest);
    });
  }

  /** Resolves when no request is pending. */
  settled(): Promise<void> {
    return this.#tasks.settled();
  }

  /** Waits for pending mail. */
  async close(): Promise<void> {
    await this.settled();
    await this.#mailer.close();
  }

  async #send(browser: string, request: CodeRequest): Promise<void> {
    if ((await this.#mailer.count(request.email)) === undefined) return;
    const { token, code } = await this.codes.create(browser, request);
    const link = new URL(`${this.context.config.baseUrl}/sign-in/link`);
    link.searchParams.set("token", token);
    if (this.isLogged)
      this.context.log.warn({ link: link.href, code }, "no mail server is configured; this link signs in");
    else this.#mailer.send(signInMail(request.email, { link, code }));
  }

  #requireOn(): void {
    if (!this.isOn)
      throw new AppError("FORBIDDEN", "Sign-in by e-mail is off here: no mail server is configured.");
  }
}

/**
 * The mail to sign in with: a code first, as many read their mail on another device, then a link. It has no text chosen by the sender of
 * the request, as it may go to people who did not request it.
 */
function signInMail(to: string, { link, code }: { link: URL; code: string }): Mail {
  const text = `Your Sidereal sign-in code for ${link.host}:

    ${spacedCode(code)}

Or open this link in the browser that requested it:

${link.href}

Valid once, for ${CODE_MS / 60_000} minutes, in that browser only. Don't share it. Not you? Ignore this mail.
`;
  return { to, subject: `Sign in to ${link.host}`, text };
}
