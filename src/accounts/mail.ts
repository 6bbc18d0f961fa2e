import type { Transporter } from "nodemailer";
import type { Config } from "../config.js";
import type { Logger } from "../log.js";

/** Maximum number of pending mails; further ones are dropped and logged. */
const MAX_PENDING = 200;

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mail through the configured server. Responses do not wait for it, so their timing reveals nothing about an address. */
export class Mailer {
  readonly #smtpUrl: string;
  readonly #from: string;
  readonly #log: Logger;
  #transport: Promise<Transporter> | undefined;
  readonly #pending = new Set<Promise<void>>();

  constructor({ smtpUrl, from }: NonNullable<Config["mail"]>, log: Logger) {
    this.#smtpUrl = smtpUrl;
    this.#from = from;
    this.#log = log;
  }

  send({ to, subject, text }: Mail): void {
    if (this.#pending.size >= MAX_PENDING) {
      this.#log.error("too many mails are pending; one was dropped");
      return;
    }
    this.#transport ??= openTransport(this.#smtpUrl);
    const sending = this.#transport
      .then((transport) =>
        transport.sendMail({ from: this.#from, to: { name: "", address: to }, subject, text }),
      )
      .then(
        () => {},
        // Not the server's message, which may quote the mail.
        (error: { code?: unknown; responseCode?: unknown }) =>
          this.#log.error({ code: error.code, responseCode: error.responseCode }, "a mail could not be sent"),
      )
      .finally(() => this.#pending.delete(sending));
    this.#pending.add(sending);
  }

  /** Resolves when all pending mail is sent or has failed. */
  async close(): Promise<void> {
    await Promise.all(this.#pending);
    (await this.#transport)?.close();
  }
}

/** Loads the library on the first mail: many instances send none. */
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
