/**
 * What callers may cause in a day, and persons by mail in an hour. Counts are in the database, shared by all processes, under names that
 * nobody without the secret of the service can trace.
 */
import { createHmac } from "node:crypto";
import type { Config } from "../config/config.js";
import type { Database, Db, Tx } from "../database/database.js";
import { type Clock, DAY_MS, HOUR_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";

/** What counts and sends mails. */
export interface MailingOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  config: Pick<Config, "baseUrl" | "mail" | "mailPerHour">;
  readSecret: () => Promise<string>;
}

/** What is counted by caller and day (UTC): its name in the store and in errors, and in a sentence. */
const COUNTED = {
  lists: ["watchlists", "watchlists may be created"],
  items: ["watchlist_items", "repositories may be added to watchlists"],
  tracked: ["track_requests", "repositories may be requested"],
} as const;
export type CountedDaily = keyof typeof COUNTED;

/** Who adds something, and how much of each kind that caller may add in a day (UTC). */
export interface Adding<Kind extends CountedDaily = CountedDaily> {
  /** The caller, and wider groups of callers that share a multiple of the quota. */
  holders: readonly { name: string; factor: number }[];
  quota: Readonly<Record<Kind, number>>;
}

/** What is counted at one time. */
export interface Addition<Kind extends CountedDaily> {
  kind: Kind;
  amount: number;
  now: number;
}

/**
 * Counts an addition against the quotas of a caller, in the transaction that adds it: what is rolled back does not count. Throws
 * RATE_LIMITED if it does not fit. Call it after locking a list, so that all callers take locks in one order.
 */
export type CountDaily<Kind extends CountedDaily> = (tx: Tx, addition: Addition<Kind>) => Promise<void>;

/** Counts what callers add in a day. */
export class DailyQuotas {
  readonly #readSecret: () => Promise<string>;

  constructor(readSecret: () => Promise<string>) {
    this.#readSecret = readSecret;
  }

  /** Counts for one caller; undefined: does not count. Reads the secret, so call it before the transaction. */
  async counterOf<Kind extends CountedDaily>(adding: Adding<Kind> | undefined): Promise<CountDaily<Kind>> {
    if (adding === undefined) return async () => {};
    const secret = await this.#readSecret();
    return async (tx, { kind, amount, now }) => {
      if (amount === 0) return;
      const [quota, words] = COUNTED[kind];
      const endsAt = endOf(DAY_MS, now);
      for (const { name, factor } of adding.holders) {
        const limit = adding.quota[kind] * factor;
        const used = await addUse(tx, { quota, endsAt, holder: hidden(secret, endsAt, name) }, amount);
        if (used > limit) throw exceeded(quota, `at most ${limit} ${words}`, endsAt - now);
      }
    };
  }
}

function exceeded(quota: string, most: string, waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `${most} in a day (UTC); try again in ${seconds} s`;
  return new AppError("RATE_LIMITED", `Daily quota exceeded: ${message}.`, {
    details: [{ parameter: "quota", message, values: [quota] }],
    headers: { "Retry-After": String(seconds) },
  });
}

/** Most mails to sign in with that one person is sent in an hour (UTC), and as many security notices. */
export const MAX_MAILS_PER_PERSON = 6;

const MAIL_LIMITS = ["person", "overall"] as const;
type MailLimit = (typeof MAIL_LIMITS)[number];

export interface MailQuotaOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Most mails in an hour; undefined: only those to one person are limited. */
  perHour: number | undefined;
  readSecret: () => Promise<string>;
}

/** Limits mails by person and overall, so that nobody can flood a mailbox or a mail server. */
export class MailQuota {
  readonly #options: MailQuotaOptions;

  constructor(options: MailQuotaOptions) {
    this.#options = options;
  }

  /**
   * Counts a mail. Returns how many of its kind the person is sent in this hour, with it; undefined if a limit is reached, and it must
   * not be sent. Mails to sign in with, which strangers cause, cannot use up the notices.
   */
  async count(kind: "sign-in" | "notice", email: string): Promise<number | undefined> {
    const { database, clock, perHour = Infinity, readSecret } = this.#options;
    const endsAt = endOf(HOUR_MS, clock.now());
    const holder = hidden(await readSecret(), endsAt, personOf(email));
    const own = await addUse(database.write, { quota: `mail ${kind}`, endsAt, holder }, 1);
    if (own > MAX_MAILS_PER_PERSON) return this.#refuse("person", endsAt);
    const all = await addUse(database.write, { quota: "mail", endsAt, holder: "all" }, 1);
    return all > perHour && kind === "sign-in" ? this.#refuse("overall", endsAt) : own;
  }

  /** The first refusal of an hour is logged. */
  async #refuse(limit: MailLimit, endsAt: number): Promise<undefined> {
    const { database, log } = this.#options;
    const times = await addUse(database.write, { quota: "mail", endsAt, holder: limit }, 1);
    if (times === 1)
      log.warn({ limit }, "a limit of mails is reached; until the hour ends, some requests send none");
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

/** Deletes counts that no limit needs. */
export async function removeEndedUse(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom("quota_use")
    .where("ends_at", "<=", now - HOUR_MS)
    .execute();
}

/** One name for all spellings of an address that may reach the same person: without tags and dots. For counting only. */
export function personOf(email: string): string {
  const [box = "", domain = ""] = email.toLowerCase().split(/@(?=[^@]*$)/);
  const name = box.replace(/\+.*$/s, "").replaceAll(".", "");
  // Nothing is left of an address such as +tag@example.org.
  return `${name === "" ? box : name}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}

function endOf(periodMs: number, now: number): number {
  return (Math.floor(now / periodMs) + 1) * periodMs;
}

function hidden(secret: string, endsAt: number, name: string): string {
  return createHmac("sha256", secret).update(`quota ${endsAt} ${name}`).digest("hex");
}

/** Returns the new count. */
async function addUse(
  db: Db | Tx,
  row: { quota: string; holder: string; endsAt: number },
  amount: number,
): Promise<number> {
  const { quota, holder, endsAt: ends_at } = row;
  const { used } = await db
    .insertInto("quota_use")
    .values({ quota, holder, ends_at, used: amount })
    .onConflict((conflict) =>
      conflict
        .columns(["quota", "holder", "ends_at"])
        .doUpdateSet(({ eb }) => ({ used: eb("quota_use.used", "+", amount) })),
    )
    .returning("used")
    .executeTakeFirstOrThrow();
  return used;
}
