import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import {
  AccountEvents,
  Accounts,
  type AccountsContext,
  ApiKeys,
  Revocations,
  type SignedIn,
  type Source,
} from "../../src/accounts/accounts.js";
import { type Config, loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { BackgroundWrites } from "../../src/lib/background-writes.js";
import type { Clock } from "../../src/lib/clock.js";
import { createLog, type Logger } from "../../src/lib/log.js";
import { type Mailbox, tokenOf } from "./mail.js";

/** Where somebody is. */
export const SOMEWHERE: Source = { network: "192.0.2.0/24", agent: "Firefox" };
/** The browser of somebody there, with this Cookie header. */
export const browserWith = (cookie?: string) => ({ headers: { cookie }, source: () => SOMEWHERE });

/** What the parts of accounts share in one process, which nobody tells of revocations. */
export function accountsContext(
  database: Database,
  clock: Clock,
  log: Logger = createLog("silent"),
  config: Config = loadConfig({ SIDEREAL_AUTH_SECRET: "s".repeat(40) }),
): AccountsContext {
  const [revocations, writes] = [new Revocations(), new BackgroundWrites(log)];
  return { database, clock, config, log, revocations, writes };
}

/** Accounts on a database, with their keys and events. */
export function openAccounts(parts: { database: Database; clock: Clock; config: Config; log: Logger }) {
  const context = accountsContext(parts.database, parts.clock, parts.log, parts.config);
  const events = new AccountEvents(context);
  const keys = new ApiKeys(context);
  return { keys, events, accounts: new Accounts(context, events), writes: context.writes };
}

/** Signs in by a mailed link, in a browser with this Cookie header. */
export async function signInByMail(
  accounts: Accounts,
  mailbox: Mailbox,
  email: string,
  cookie?: string,
): Promise<SignedIn & { cookie: string }> {
  const browser = randomBytes(32).toString("base64url");
  accounts.mail.request(email, "/", browser);
  const token = tokenOf(await mailbox.next());
  const signedIn = await accounts.signInByMail({ browser, token }, browserWith(cookie));
  assert.ok(signedIn);
  return { ...signedIn, cookie: cookieOf(signedIn) };
}

/** The Cookie header of a browser that got these cookies. */
export function cookieOf({ cookies }: Pick<SignedIn, "cookies">): string {
  return cookies.map((each) => each.split(";")[0]).join("; ");
}

/** Makes an account without signing in, and gives its id. */
export async function addAccount(database: Database, email: string): Promise<string> {
  const id = randomBytes(12).toString("hex");
  const at = "2026-04-30T12:00:00.000Z";
  await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
    values (${id}, '', ${email}, '1', ${at}, ${at})`.execute(database.durable);
  return id;
}
