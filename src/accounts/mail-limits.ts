import { createHmac } from "node:crypto";
import type { Config } from "../config/config.js";
import type { Database, Db, Tx } from "../database/database.js";
import { type Clock, HOUR_MS } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";

/** Most mails to sign in with that one person is sent in an hour (UTC), and most that one known browser requests. */
const MAX_PER_PERSON = 6;
/** Most mails that all known browsers of one person request in an hour: each sign-in by mail makes another browser known. */
const MAX_PER_KNOWN_PERSON = 30;

/** Whose request it is, from the least to the most trusted. */
const STANDINGS = ["new", "account", "known"] as const;
/** An address without an account, one with an account, or a browser in which that account has signed in before. */
export type Standing = (typeof STANDINGS)[number];

/**
 * The part of all mail in an hour that may be used up by requests of a standing and of lower ones: strangers who use up theirs
 * leave the rest to people with accounts, and those who know addresses of accounts leave some to known browsers.
 */
const SHARES: Readonly<Record<Standing, number>> = { new: 0.5, account: 0.75, known: 1 };

/** The part of all mail that security notices may use up, so that whoever causes them cannot keep others from signing in. */
const NOTICE_SHARE = 0.25;

/** A requested mail. */
interface MailRequest {
  /** In lower case. */
  email: string;
  standing: Standing;
  /** The network of the caller, shortened. */
  network: string;
  /** Names the browser, if it is known. */
  browserId: string | undefined;
}

/** The limits of mails. */
export type MailLimit = "person" | "network" | "domain" | "service" | "notices";

interface Counter {
  limit: MailLimit;
  /** Names the counter. Stored in the clear only if `isSecret` is false. */
  name: string;
  isSecret: boolean;
  most: number;
}

export interface MailLimitsOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Undefined: only the mails to one person are limited. */
  limits: Config["mailLimits"];
  readSecret: () => Promise<string>;
}

/**
 * Limits the mails that requests cause, so that nobody can flood a mailbox or a mail server with them. Counts are in the database,
 * shared by all processes, by the hour, and under names that nobody without the secret of the service can trace.
 */
export class MailLimits {
  readonly #options: MailLimitsOptions;

  constructor(options: MailLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts one mail in a transaction, which must be rolled back if it does not fit. Returns the limit that was reached; undefined
   * if there was none.
   */
  async count(tx: Tx, request: MailRequest): Promise<MailLimit | undefined> {
    const span = this.#span;
    const secret = await this.#options.readSecret();
    // Always in the same order, so that transactions do not wait for each other in a circle.
    for (const { limit, name, isSecret, most } of countersOf(request, this.#options.limits)) {
      const counted = isSecret
        ? createHmac("sha256", secret).update(`mail ${span} ${name}`).digest("hex")
        : name;
      if ((await addOne(tx, span, counted)) > most) return limit;
    }
    return undefined;
  }

  /** Notes that a mail was not sent. The first of an hour is logged. */
  noteRefused(limit: MailLimit): Promise<void> {
    return noteRefused(this.#options, limit);
  }

  /** Deletes the counts of hours before the last one. */
  async removeExpired(): Promise<void> {
    await this.#options.database.write
      .deleteFrom("mail_use")
      .where("span", "<", this.#span - 1)
      .execute();
  }

  get #span(): number {
    return spanAt(this.#options.clock.now());
  }
}

/**
 * Counts a security notice, if it fits into the limit of all mail and the share of notices. Returns whether it does. `isFirst`: of its
 * account in a day, which the share does not bound, as others must not be able to silence it.
 */
export async function countNotice(
  options: Omit<MailLimitsOptions, "readSecret">,
  isFirst: boolean,
): Promise<boolean> {
  const { database, clock, limits } = options;
  const { perHour } = limits ?? UNLIMITED;
  const span = spanAt(clock.now());
  try {
    await database.write.transaction().execute(async (tx) => {
      if (!isFirst && (await addOne(tx, span, NOTICES)) > Math.ceil(perHour * NOTICE_SHARE)) throw new Full();
      if ((await addOne(tx, span, ALL)) > perHour) throw new Full();
    });
    return true;
  } catch (error) {
    if (!(error instanceof Full)) throw error;
    await noteRefused(options, "notices");
    return false;
  }
}

/** Rolls the counts back. */
class Full extends Error {}

async function noteRefused(
  { database, clock, log }: Pick<MailLimitsOptions, "database" | "clock" | "log">,
  limit: MailLimit,
): Promise<void> {
  const times = await addOne(database.write, spanAt(clock.now()), `${REFUSED}${limit}`);
  if (times === 1)
    log.warn({ limit }, "a limit of mails is reached; until the hour ends, some requests send none");
}

/** Mails to sign in with and security notices, in an hour. */
export interface MailUse {
  sent: number;
  /** Those that were not sent, by the limit that was reached. */
  refused: Partial<Record<MailLimit, number>>;
}

/** The mails of this hour and of the last one, at the time `now`. */
export async function readMailUse(db: Db, now: number): Promise<MailUse> {
  const rows = await db
    .selectFrom("mail_use")
    .select(["counted", "used"])
    .where("span", ">=", spanAt(now) - 1)
    .where("counted", "in", [ALL, ...LIMITS.map((limit) => `${REFUSED}${limit}`)])
    .execute();
  const sumOf = (name: string) =>
    rows.filter(({ counted }) => counted === name).reduce((sum, { used }) => sum + used, 0);
  const refused = LIMITS.map((limit) => [limit, sumOf(`${REFUSED}${limit}`)] as const);
  return { sent: sumOf(ALL), refused: Object.fromEntries(refused.filter(([, times]) => times > 0)) };
}

/** One name for all spellings of an address that may reach the same person: without tags and dots. For counting only. */
export function personOf(email: string): string {
  const at = email.lastIndexOf("@");
  const box = email.slice(0, at).toLowerCase();
  const name = box.replace(/\+.*$/s, "").replaceAll(".", "");
  // Nothing is left of an address such as +tag@example.org.
  return `${name === "" ? box : name}@${domainOf(email)}`;
}

function domainOf(email: string): string {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain === "googlemail.com" ? "gmail.com" : domain;
}

const LIMITS: readonly MailLimit[] = ["person", "network", "domain", "service", "notices"];
/** All mails that were sent. */
const ALL = "all";
const NOTICES = "notices";
const REFUSED = "refused ";

function countersOf(
  { email, standing, network, browserId }: MailRequest,
  limits: Config["mailLimits"],
): Counter[] {
  const { perNetwork, perDomain, perHour } = limits ?? UNLIMITED;
  const isKnown = standing === "known";
  const person = personOf(email);
  const own = isKnown ? `browser ${browserId}` : `person ${person}`;
  const secret: Omit<Counter, "isSecret">[] = [{ limit: "person", name: own, most: MAX_PER_PERSON }];
  if (isKnown) secret.push({ limit: "person", name: `known ${person}`, most: MAX_PER_KNOWN_PERSON });
  else secret.push({ limit: "network", name: `network ${network}`, most: perNetwork });
  if (standing === "new")
    secret.push({ limit: "domain", name: `domain ${domainOf(email)}`, most: perDomain });
  // A request counts in the share of its own standing and in those of all higher ones.
  const shares = STANDINGS.slice(STANDINGS.indexOf(standing)).map((share) => ({
    limit: "service" as const,
    name: share === "known" ? ALL : `up to ${share}`,
    isSecret: false,
    most: Math.ceil(perHour * SHARES[share]),
  }));
  return [...secret.map((counter) => ({ ...counter, isSecret: true })), ...shares];
}

const UNLIMITED = { perNetwork: Infinity, perDomain: Infinity, perHour: Infinity };

function spanAt(now: number): number {
  return Math.floor(now / HOUR_MS);
}

/** Returns the new count. */
async function addOne(db: Db | Tx, span: number, counted: string): Promise<number> {
  const { used } = await db
    .insertInto("mail_use")
    .values({ span, counted, used: 1 })
    .onConflict((conflict) =>
      conflict.columns(["span", "counted"]).doUpdateSet(({ eb }) => ({ used: eb("mail_use.used", "+", 1) })),
    )
    .returning("used")
    .executeTakeFirstOrThrow();
  return used;
}
