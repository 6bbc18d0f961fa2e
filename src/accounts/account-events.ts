/**
 * The events of accounts: one table, whose rows owners see of themselves and operators of all, and mails about important ones. Refused
 * requests belong to no account, and are only logged.
 */
import { sql } from "kysely";
import { type Database, type Db, deleteOld, type Tx } from "../database/database.js";
import { DAY_MS, isoTime } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import { addressesOf } from "./addresses.js";
import type { AccountsContext } from "./context.js";
import { MAX_MAILS_PER_PERSON, type Mail, Mailer } from "./mail.js";

/** How long events are kept. */
const KEPT_MS = 180 * DAY_MS;
/** The latest events of an account that are kept: of its sign-ins, which later ones are compared with, and of all others. */
const KEPT_ROWS = 1_000;
const BATCH = 2_000;

/** What operators did: their log. The detail has `target`, and if known `reason`, `by` (a user of the machine) and `undo`, a command. */
export const OPERATOR_EVENTS = [
  "operator_entered",
  "operator_refused",
  "operator_left",
  "forge_token_added",
  "forge_token_refused",
  "forge_token_removed",
  "repository_untracked",
  "repository_deleted",
  "repository_renamed",
  "rename_undone",
  "hidden",
  "unhidden",
  "banned",
  "unbanned",
  "account_removed",
  "account_sessions_ended",
  "account_key_revoked",
  "files_imported",
  "import_undone",
] as const;
export type OperatorEventName = (typeof OPERATOR_EVENTS)[number];

export const ACCOUNT_EVENTS = [
  "signed_in",
  "reauthenticated",
  "signed_out",
  "session_ended",
  "sessions_ended",
  "account_created",
  "account_deleted",
  "data_exported",
  "key_created",
  "key_revoked",
  "passkey_added",
  "passkey_removed",
  "feed_created",
  "feed_replaced",
  "feed_ended",
  ...OPERATOR_EVENTS,
] as const;
export type AccountEventName = (typeof ACCOUNT_EVENTS)[number];

/** Events that are mailed to the owner of the account, besides sign-ins from somewhere new. */
const MAILED: readonly AccountEventName[] = [
  "key_created",
  "key_revoked",
  "passkey_added",
  "passkey_removed",
];

/** The stored origin of a request. */
export interface Source {
  /** 24 bits of an IPv4 address, 48 of an IPv6 one. */
  network: string;
  /** The family of the user agent, such as Firefox. */
  agent: string;
}

/** Names and ids, never a secret or an address. */
type EventDetail = Readonly<Record<string, string | number>>;

interface Actor {
  /** Undefined: nobody is signed in, such as an operator at the machine. */
  account: { id: string } | undefined;
  source: () => Source;
}

export interface StoredEvent {
  /** Grows with the time it was written. */
  id: number;
  at: number;
  accountId: string | null;
  event: AccountEventName;
  network: string;
  /** With the family of the user agent as `agent`. */
  detail: EventDetail;
}

type NewEvent = Omit<StoredEvent, "id">;

/** A refused request. */
export interface RefusedRequest {
  event: "sign_in_refused" | "key_refused" | "cross_site_refused" | "rate_limited" | "network_banned";
  network: string;
  detail?: EventDetail;
}

export interface EventQuery {
  /** Default: all. */
  events?: readonly AccountEventName[];
  accountId?: string | undefined;
  since?: number | undefined;
  before?: number | undefined;
  limit: number;
}

/** Records events. No response waits for it, and none fails because of it. */
export class AccountEvents {
  readonly #mailer: Mailer;
  readonly #refusals = new Map<string, CountedLog<RefusedRequest>>();

  constructor(private readonly context: AccountsContext) {
    this.#mailer = new Mailer(context, "notice");
  }

  record(event: AccountEventName, { account, source }: Actor, more: EventDetail = {}): void {
    const accountId = account?.id ?? null;
    const { network, agent } = source();
    const detail = agent === "" ? more : { agent, ...more };
    const row = { at: this.context.clock.now(), accountId, event, network, detail };
    const write = async () => {
      // Before it is stored, as it is compared with earlier ones.
      await this.#notify(row).catch((error: unknown) =>
        this.context.log.error({ err: error, event }, "the owner of an account could not be notified"),
      );
      await insertEvent(this.context.database.write, row);
    };
    this.context.writes.add(write, "an event of an account could not be recorded", { event });
  }

  /** Logs a refused request: the first of its kind immediately, then one every ten seconds, with their number. */
  logRefused(request: RefusedRequest): void {
    const { clock, log } = this.context;
    const counted =
      this.#refusals.get(request.event) ??
      new CountedLog<RefusedRequest>(clock, (times, { detail, ...last }) =>
        log.warn({ ...last, ...detail, times }, "refused"),
      );
    this.#refusals.set(request.event, counted);
    counted.note(request);
  }

  /** Events, latest first, with those that this process has just recorded. */
  async list(query: EventQuery): Promise<StoredEvent[]> {
    await this.context.writes.flush();
    return readEvents(this.context.database.read, query);
  }

  /** Resolves when everything recorded is stored or has failed, and all mail about it is sent or has failed. */
  async flush(): Promise<void> {
    await this.context.writes.flush();
    await this.#mailer.settled();
  }

  /** The same, and ends the connection to the mail server. */
  async close(): Promise<void> {
    await this.context.writes.flush();
    await this.#mailer.close();
  }

  /** Deletes events past their retention at the time `now`, or beyond their number, in short transactions. Returns their number. */
  async prune(now: number, signal: AbortSignal): Promise<number> {
    const { write } = this.context.database;
    const old = {
      table: "account_events",
      column: "at",
      before: now - KEPT_MS,
      batch: BATCH,
      signal,
    } as const;
    let removed = await deleteOld(write, old);
    while (!signal.aborted) {
      const { numAffectedRows = 0n } = await sql`delete from account_events where id in (
        select id from (select id, row_number() over (partition by account_id, ${isSignIn} order by id desc) as age
          from account_events where account_id in (select account_id from account_events
            where account_id is not null group by account_id having count(*) > ${KEPT_ROWS})) as aged
        where age > ${KEPT_ROWS} limit ${BATCH})`.execute(write);
      removed += Number(numAffectedRows);
      if (numAffectedRows < BATCH) break;
    }
    return removed;
  }

  /** Mails about an event if its owner should know of it. Without a mail server none is sent. */
  async #notify(event: NewEvent): Promise<void> {
    const { database, config } = this.context;
    const { accountId, event: name } = event;
    if (!this.#mailer.isOn || accountId === null) return;
    const isMailed =
      name === "signed_in" ? await isFromSomewhereNew(database.read, event) : MAILED.includes(name);
    const to = isMailed ? (await addressesOf(database, [accountId])).get(accountId) : undefined;
    const sent = to === undefined ? undefined : await this.#mailer.count(to);
    if (to === undefined || sent === undefined) return;
    const detail = { ...event.detail, ...(await keyName(database.read, event)) };
    this.#mailer.send(
      noticeOf({ ...event, detail }, { to, service: new URL(config.baseUrl).hostname, sent }),
    );
  }
}

/** The name of the key that an event is about. Only mails have it, as stored events outlive their account. */
async function keyName(db: Db, { detail: { key } }: NewEvent): Promise<{ name?: string }> {
  if (key === undefined) return {};
  const row = db.selectFrom("api_keys").select("name").where("id", "=", Number(key));
  return (await row.executeTakeFirst()) ?? {};
}

const isSignIn = sql`case when event in ('signed_in', 'reauthenticated') then 1 else 0 end`;

/** Events, latest first. */
export async function readEvents(
  db: Db,
  { events = ACCOUNT_EVENTS, accountId, since, before, limit }: EventQuery,
): Promise<StoredEvent[]> {
  let query = db
    .selectFrom("account_events")
    .selectAll()
    // A newer version may have written events that this one does not know.
    .where("event", "in", events)
    .orderBy("id", "desc")
    .limit(limit);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (since !== undefined) query = query.where("at", ">=", since);
  if (before !== undefined) query = query.where("id", "<", before);
  return (await query.execute()).flatMap(({ event, account_id: accountId, detail, ...row }) => {
    const name = ACCOUNT_EVENTS.find((known) => known === event);
    const facts: EventDetail = JSON.parse(detail);
    return name === undefined ? [] : [{ ...row, accountId, event: name, detail: facts }];
  });
}

export async function insertEvent(db: Db | Tx, { accountId, detail, ...event }: NewEvent): Promise<void> {
  const row = { ...event, account_id: accountId, detail: JSON.stringify(detail) };
  await db.insertInto("account_events").values(row).execute();
}

/** Whether an account has signed in before, but not from this network, or not with this family of browsers. */
async function isFromSomewhereNew(db: Db, { accountId, network, detail }: NewEvent): Promise<boolean> {
  const signIns = await db
    .selectFrom("account_events")
    .select(["network", "detail"])
    .distinct()
    .where("account_id", "=", accountId)
    .where("event", "in", ["signed_in", "reauthenticated"])
    .execute();
  const agents = signIns.map((signIn) => agentOf(JSON.parse(signIn.detail)));
  const isKnown = signIns.some((signIn) => signIn.network === network) && agents.includes(agentOf(detail));
  return signIns.length > 0 && !isKnown;
}

/** An event in words, for pages, mails and the command line. */
export function eventWords(event: AccountEventName): string {
  const words = event.replaceAll("_", " ").replace(/^key/, "API key");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Who an event is about, or who has done it. `email`: that of the account, if it still exists. */
export function actorWords({ accountId, detail }: StoredEvent, email: string | undefined): string {
  return email ?? accountId ?? String(detail.by ?? "operator");
}

/**
 * The detail of an event in words, such as "method: link"; without agent and actor. Empty if there is nothing else. `addresses`: those of
 * accounts to which something was done.
 */
export function detailWords(detail: EventDetail, addresses?: ReadonlyMap<string, string>): string {
  return Object.entries(detail)
    .filter(([name]) => name !== "agent" && name !== "by")
    .map(([name, value]) => `${name}: ${(name === "target" && addresses?.get(String(value))) || value}`)
    .join(", ");
}

/** The family of the user agent, if one was sent and recorded. */
export function agentOf({ agent }: EventDetail): string | null {
  return typeof agent === "string" && agent !== "None" ? agent : null;
}

/** The network of an event in words. */
export function networkWords({ network }: Pick<StoredEvent, "network">): string {
  const isHere = network === "local" || network.startsWith("127.") || network === "::/48";
  return isHere ? "this machine" : network;
}

/** The addresses of the accounts that did something in these events, or to which something was done, by their ids. */
export function addressesIn(
  database: Pick<Database, "read" | "dialect">,
  events: readonly StoredEvent[],
): Promise<Map<string, string>> {
  const ids = events.flatMap(({ accountId, detail: { target } }) => [accountId ?? "", String(target ?? "")]);
  return addressesOf(database, [...new Set(ids)]);
}

/** A mail about an event, without secrets and links. */
function noticeOf(
  { at, event, network, detail }: NewEvent,
  { to, service, sent }: { to: string; service: string; sent: number },
): Mail {
  const what = event === "signed_in" ? "Signed in from somewhere new" : eventWords(event);
  const more = detailWords(detail);
  const isLast = sent === MAX_MAILS_PER_PERSON;
  const text = `${what}: your account at ${service}${more === "" ? "" : ` (${more})`}.

When: ${isoTime(at).slice(0, 16).replace("T", " ")} UTC
Browser or program: ${agentOf(detail) ?? "not known"}
Network: ${network}

If it was you, there is nothing to do.
If it was not you: sign in, sign out everywhere on the page of your account, and remove API keys and passkeys that
are not yours. The events of your account there show what else happened.
${isLast ? "\nThis is the last mail of this hour about your account; its events show all that follows.\n" : ""}`;
  return { to, subject: `Security notice: ${what} at ${service}`, text };
}
