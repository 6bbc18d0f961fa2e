import type { Transporter } from "nodemailer";
import type { Db } from "../database/database.js";
import { HOUR_MS } from "../lib/clock.js";
import { z } from "../lib/schema.js";
import { tlsProblem } from "../lib/tls-problems.js";
import type { AccountsContext } from "./context.js";
import { DeferredTasks } from "./deferred-tasks.js";
import { addUse, endOf, hidden } from "./quotas.js";
import { readSecret } from "./secret.js";

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Most mails to sign in with that one person is sent in an hour (UTC), and as many security notices. */
export const MAX_MAILS_PER_PERSON = 6;

const MAIL_LIMITS = ["person", "overall"] as const;
type MailLimit = (typeof MAIL_LIMITS)[number];

/**
 * Sends mails of one kind through the configured server, and limits them by person and overall, so that nobody can flood a mailbox or the
 * server. Responses do not wait for it, so their timing reveals nothing about an address. Each kind has its own, so that none delays another.
 */
export class Mailer {
  #transport: Promise<Transporter> | undefined;
  readonly #tasks: DeferredTasks;

  constructor(
    private readonly context: AccountsContext,
    private readonly kind: "sign-in" | "notice",
  ) {
    this.#tasks = new DeferredTasks(context.log, "a mail could not be sent");
  }

  /** Whether a mail server is configured. */
  get isOn(): boolean {
    return this.context.config.mail !== undefined;
  }

  /**
   * Counts a mail. Returns how many of its kind the person is sent in this hour, with it; undefined if a limit is reached, and it must
   * not be sent. Mails to sign in with, which strangers cause, cannot use up the notices.
   */
  async count(email: string): Promise<number | undefined> {
    const { database, clock, config } = this.context;
    const endsAt = endOf(HOUR_MS, clock.now());
    const holder = hidden(await readSecret(this.context), endsAt, personOf(email));
    const own = await addUse(database.write, { quota: `mail ${this.kind}`, endsAt, holder }, 1);
    if (own > MAX_MAILS_PER_PERSON) return this.#refuse("person", endsAt);
    const all = await addUse(database.write, { quota: "mail", endsAt, holder: "all" }, 1);
    const { mailPerHour = Infinity } = config;
    return all > mailPerHour && this.kind === "sign-in" ? this.#refuse("overall", endsAt) : own;
  }

  /** Sends a mail, if a mail server is configured. */
  send({ to, subject, text }: Mail): void {
    const { mail } = this.context.config;
    if (mail === undefined) return;
    this.#transport ??= openTransport(mail.smtpUrl);
    const sending = this.#transport;
    this.#tasks.add(
      async () => {
        await (await sending).sendMail({ from: mail.from, to: { name: "", address: to }, subject, text });
      },
      (error) => mailFailure(mail.smtpUrl, error),
    );
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

  /** The first refusal of an hour is logged. */
  async #refuse(limit: MailLimit, endsAt: number): Promise<undefined> {
    const { database, log } = this.context;
    const times = await addUse(database.write, { quota: "mail", endsAt, holder: limit }, 1);
    if (times === 1)
      log.warn({ limit }, "mail limit reached; some requests send no mail until the hour ends");
  }
}

/** Mails to sign in with and security notices, in this hour and the last one. */
export interface MailUse {
  sent: number;
  /** Those that were not sent, by the limit that was reached. */
  refused: Partial<Record<MailLimit, number>>;
}

/** The mails of this hour and the last one, at the time `now`. */
export async function readMailUse(db: Db, now: number): Promise<MailUse> {
  const rows = await db
    .selectFrom("quota_use")
    .select(["holder", "used"])
    .where("quota", "=", "mail")
    .where("ends_at", ">", now - HOUR_MS)
    .execute();
  const sumOf = (holder: string) =>
    rows.reduce((sum, row) => sum + (row.holder === holder ? row.used : 0), 0);
  const refused = MAIL_LIMITS.map((limit) => [limit, sumOf(limit)] as const);
  return {
    sent: sumOf("all") - sumOf("overall"),
    refused: Object.fromEntries(refused.filter(([, times]) => times > 0)),
  };
}

/** One name for all spellings of an address that may reach the same person: without tags and dots. For counting only. */
export function personOf(email: string): string {
  const [box = "", domain = ""] = email.toLowerCase().split(/@(?=[^@]*$)/);
  const name = box.replace(/\+.*$/s, "").replaceAll(".", "");
  // Nothing is left of an address such as +tag@example.org.
  return `${name === "" ? box : name}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}

/** An error of nodemailer. `originalCode`: that of the system or of TLS, which `code` has replaced. */
const MailError = z.object({
  message: z.string().catch(""),
  code: z.string().catch("unknown"),
  originalCode: z.string().optional().catch(undefined),
  command: z.string().optional().catch(undefined),
  response: z.string().optional().catch(undefined),
  responseCode: z.number().optional().catch(undefined),
});

/** The server to which a mail was handed over, and why that failed. Not the server's own words, which may quote the mail. */
function mailFailure(smtpUrl: string, error: unknown): object {
  const { protocol, hostname, port } = new URL(smtpUrl);
  const { message, code, originalCode = code, command, response, responseCode } = MailError.parse(error);
  const isLocal = response === undefined && command === "CONN";
  return {
    host: hostname,
    port: Number(port || (protocol === "smtps:" ? 465 : 587)),
    code: originalCode,
    ...(command === undefined ? {} : { command }),
    ...(responseCode === undefined ? {} : { responseCode }),
    reason: tlsProblem(originalCode) ?? (isLocal ? message : refusalOf(code, responseCode)),
  };
}

function refusalOf(code: string, responseCode: number | undefined): string {
  if (code === "EAUTH") return "the server refuses the user or the password in SIDEREAL_SMTP_URL";
  if (code === "EDNS") return "the name of the server cannot be resolved";
  if (responseCode === undefined) return "the mail could not be handed over";
  const when = responseCode >= 500 ? "and would the next time" : "for now";
  return `the server refuses the mail ${when}; its own log says why`;
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
