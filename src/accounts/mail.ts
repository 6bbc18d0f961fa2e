import type { Transporter } from "nodemailer";
import type { Config } from "../config/config.js";
import type { Logger } from "../lib/log.js";
import { DeferredTasks } from "./deferred-tasks.js";

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mail through the configured server. Responses do not wait for it, so their timing reveals nothing about an address. */
export class Mailer {
  readonly #smtpUrl: string;
  readonly #from: string;
  #transport: Promise<Transporter> | undefined;
  readonly #tasks: DeferredTasks;

  constructor({ smtpUrl, from }: NonNullable<Config["mail"]>, log: Logger) {
    this.#smtpUrl = smtpUrl;
    this.#from = from;
    this.#tasks = new DeferredTasks(log, "a mail could not be sent");
  }

  send({ to, subject, text }: Mail): void {
    this.#transport ??= openTransport(this.#smtpUrl);
    const sending = this.#transport;
    this.#tasks.add(async () => {
      await (await sending).sendMail({ from: this.#from, to: { name: "", address: to }, subject, text });
    }, codesOf);
  }

  /** Resolves when all pending mail is sent or has failed. */
  settled(): Promise<void> {
    return this.#tasks.settled();
  }

  /** The same, and ends the connection to the mail server. */
  async close(): Promise<void> {
    await this.settled();
    (await this.#transport)?.close();
  }
}

/** Not the server's message, which may quote the mail. */
function codesOf(error: unknown): object {
  const known = typeof error === "object" && error !== null ? error : {};
  return {
    ...("code" in known ? { code: known.code } : {}),
    ...("responseCode" in known ? { responseCode: known.responseCode } : {}),
  };
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
