import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import { type Clock, DAY_MS, isoTime } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { addressesOf } from "./addresses.js";
import { type Mail, Mailer } from "./mail.js";
import { countNotice } from "./mail-limits.js";
import type { SecurityEvent, SecurityEventName } from "./security-events.js";
import { agentOf, detailWords, EVENT_WORDS } from "./security-events.js";
import { countEvents, readSignIns } from "./security-rows.js";

/** Events that are mailed to the owner of the account, besides sign-ins from somewhere new. */
const MAILED: readonly SecurityEventName[] = [
  "sessions_ended",
  "account_deleted",
  "data_exported",
  "key_created",
  "key_revoked",
  "passkey_added",
  "passkey_removed",
  "forge_token_added",
  "forge_token_removed",
];

/** Most mails about events of one account in 24 hours. The last one says that it is the last. */
export const MAX_PER_DAY = 20;

export interface EventMailsOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  config: Pick<Config, "baseUrl" | "mail" | "mailLimits">;
}

/** Mails to owners of accounts about security events. They hold no secrets and no links. Without a mail server none is sent. */
export class EventMails {
  readonly #options: EventMailsOptions;
  /** Separate, so that these mails cannot delay mails to sign in with. */
  readonly #mailer: Mailer | undefined;

  constructor(options: EventMailsOptions) {
    const { config, log } = options;
    this.#options = options;
    this.#mailer = config.mail === undefined ? undefined : new Mailer(config.mail, log);
  }

  /** Mails about an event if its owner should know of it. Call before the event is recorded: it is compared with earlier ones. */
  async notify(event: SecurityEvent): Promise<void> {
    const { accountId } = event;
    const isMailed = MAILED.includes(event.event) || event.event === "signed_in";
    if (this.#mailer === undefined || accountId === null || !isMailed) return;
    const { database, clock, log, config } = this.#options;
    if (event.event === "signed_in" && !(await isFromSomewhereNew(database, accountId, event))) return;
    const now = clock.now();
    const since = now - DAY_MS + 1;
    const mailedToday = await countEvents(database.read, { accountId, events: MAILED, since });
    if (mailedToday >= MAX_PER_DAY) return;
    const to = event.address ?? (await addressesOf(database, [accountId])).get(accountId);
    if (to === undefined) return;
    const limits = { database, clock, log, limits: config.mailLimits };
    if (!(await countNotice(limits, mailedToday === 0))) return;
    const isLast = mailedToday === MAX_PER_DAY - 1;
    this.#mailer.send(noticeOf(event, { to, at: now, service: new URL(config.baseUrl).hostname, isLast }));
  }

  /** Resolves when all pending mail is sent or has failed. */
  async settled(): Promise<void> {
    await this.#mailer?.settled();
  }

  /** The same, and ends the connection to the mail server. */
  async close(): Promise<void> {
    await this.#mailer?.close();
  }
}

/** Whether an account has signed in before, but not from this network, or not with this family of browsers. */
async function isFromSomewhereNew(
  database: Database,
  accountId: string,
  { source }: SecurityEvent,
): Promise<boolean> {
  const signIns = await readSignIns(database.read, accountId);
  return (
    signIns.length > 0 &&
    !(
      signIns.some(({ network }) => network === source.network) &&
      signIns.some(({ detail }) => agentOf(detail) === source.agent)
    )
  );
}

interface NoticeFacts {
  to: string;
  at: number;
  /** The host of the service. */
  service: string;
  isLast: boolean;
}

function noticeOf({ event, source, detail = {} }: SecurityEvent, facts: NoticeFacts): Mail {
  const { to, at, service, isLast } = facts;
  const what = event === "signed_in" ? "Signed in from somewhere new" : EVENT_WORDS[event];
  const more = detailWords(detail);
  const advice =
    event === "account_deleted"
      ? "If it was not you, somebody who could sign in as you has done it. It cannot be undone."
      : "If it was not you: sign in, sign out everywhere on the page of your account, and remove API keys and passkeys that\nare not yours. Your security log there lists what else happened.";
  const text = `${what}: your account at ${service}${more === "" ? "" : ` (${more})`}.

When: ${isoTime(at).slice(0, 16).replace("T", " ")} UTC
Browser or program: ${source.agent}
Network: ${source.network}

If it was you, there is nothing to do.
${advice}
${isLast ? "\nThis is the last mail of today about your account; your security log has all that follows.\n" : ""}`;
  return { to, subject: `Security notice: ${what} at ${service}`, text };
}
