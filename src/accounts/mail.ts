import { createTransport, type Transporter } from "nodemailer";
import type { Config } from "../config.js";
import type { Logger } from "../log.js";

/** Mails under way at once; more are dropped, and the log says so. */
const MAX_UNDER_WAY = 200;

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Hands mail to the configured server. Nobody waits for it, so how long it takes tells nothing of an address. */
export class Mailer {
  readonly #transport: Transporter;
  readonly #from: string;
  readonly #log: Logger;
  readonly #underWay = new Set<Promise<void>>();

  constructor({ smtpUrl, from }: NonNullable<Config["mail"]>, log: Logger) {
    this.#transport = createTransport({
      url: smtpUrl,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 30_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    this.#from = from;
    this.#log = log;
  }

  send({ to, subject, text }: Mail): void {
    if (this.#underWay.size >= MAX_UNDER_WAY) {
      this.#log.error("too many mails are under way; one was dropped");
      return;
    }
    const sending = this.#transport
      .sendMail({ from: this.#from, to: { name: "", address: to }, subject, text })
      .then(
        () => {},
        // The server's own words may quote the mail.
        (error: { code?: unknown; responseCode?: unknown }) =>
          this.#log.error({ code: error.code, responseCode: error.responseCode }, "a mail could not be sent"),
      )
      .finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  /** Ends when all that is under way is sent or has failed. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#transport.close();
  }
}
