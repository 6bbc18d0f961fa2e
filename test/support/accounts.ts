import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import {
  AccountEvents,
  Accounts,
  type AccountsContext,
  ApiKeys,
  Bans,
  Revocations,
  type SignedIn,
  type Source,
} from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { BackgroundWrites } from "../../src/lib/background-writes.js";
import type { Clock } from "../../src/lib/clock.js";
import { createLog, type Logger } from "../../src/lib/log.js";
import { type Mailbox, tokenOf } from "./mail.js";
import { ManualClock } from "./manual-clock.js";
import { NOW } from "./world.js";

/** Where somebody is. */
export const SOMEWHERE: Source = { network: "192.0.2.0/24", agent: "Firefox" };
/** The browser of somebody there, with this Cookie header. */
export const browserWith = (cookie?: string) => ({ headers: { cookie }, source: () => SOMEWHERE });

/** What the parts of accounts share in one process, which nobody tells of revocations. */
export function accountsContext(
  database: Database,
  clock: Clock,
  { log = createLog("silent"), settings = {} }: { log?: Logger; settings?: Record<string, string> } = {},
): AccountsContext {
  const config = loadConfig({
    SIDEREAL_BASE_URL: "https://sidereal.example",
    SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
    ...settings,
  });
  const revocations = new Revocations();
  const bans = new Bans({ database, config, clock, revocations });
  return { database, clock, config, log, revocations, writes: new BackgroundWrites(log), bans };
}

/** Accounts with these settings, with their keys and events. */
export function openAccounts(
  database: Database,
  settings: Record<string, string> = {},
  { clock = new ManualClock(NOW), log = createLog("silent") } = {},
) {
  const context = accountsContext(database, clock, { log, settings });
  const events = new AccountEvents(context);
  const { writes } = context;
  return { clock, writes, events, keys: new ApiKeys(context), accounts: new Accounts(context, events) };
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
