/** The commands about accounts and operators: events, becoming an operator, ending sessions, lists, deletion, revoking keys. */
import type { Command } from "commander";
import type { AccountRow, ApiKey, StoredEvent } from "../accounts/accounts.js";
import { isoDay, isoTime, timeOrNull } from "../lib/clock.js";
import { untilWords, withAccounts } from "./bans.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import {
  addRemovalOptions,
  countOf,
  logOperation,
  REMOVAL_EXIT_CODES,
  type RemovalOptions,
  remove,
} from "./removal.js";

/** Events read by one statement. */
const PAGE = 500;

interface EventsOptions {
  account?: string;
  operators?: boolean;
  since?: string;
  json?: boolean;
}

export function addEvents(program: Command, host: Host): void {
  program
    .command("events")
    .description("list account events and what operators did, latest first")
    .option("--account <email>", "only those of this account; the id of a deleted account works too")
    .option("--operators", "only what operators did, by page or command, with the command that undoes it")
    .option("--since <time>", "only those since this time, such as 2026-04-30 or 2026-04-30T12:00:00Z")
    .option("--json", "print one JSON object per event")
    .action((options: EventsOptions) => listEvents(host, options));
}

async function listEvents(host: Host, { account, operators, since, json }: EventsOptions): Promise<void> {
  const from = since === undefined ? undefined : Date.parse(since);
  if (from !== undefined && Number.isNaN(from))
    throw new CommandFault(
      "--since: must be a date such as 2026-04-30, or a time such as 2026-04-30T12:00:00Z",
    );
  const { ACCOUNT_EVENTS, OPERATOR_EVENTS, addressesIn, findAccountId, readEvents, ...words } = await import(
    "../accounts/accounts.js"
  );
  const { actorWords, agentOf, detailWords, eventWords, networkWords } = words;
  const events = operators === true ? OPERATOR_EVENTS : ACCOUNT_EVENTS;
  requireStore(host.config);
  await withModules(host, async ({ database }) => {
    const id = account?.includes("@") === true ? await findAccountId(database.read, account) : account;
    if (account !== undefined && id === undefined) throw unknownAccount(account);
    let isEmpty = true;
    for (let before: number | undefined; ; ) {
      const page = await readEvents(database.read, {
        events,
        accountId: id,
        since: from,
        before,
        limit: PAGE,
      });
      const addresses = await addressesIn(database, page);
      for (const event of page) {
        const email = addresses.get(event.accountId ?? "");
        const who = actorWords(event, email);
        const what = [eventWords(event.event), detailWords(event.detail, addresses)]
          .filter(Boolean)
          .join("; ");
        const origin = [networkWords(event), agentOf(event.detail)].filter(Boolean).join(", ");
        const line = `${isoTime(event.at)}  ${who}  ${what}, from ${origin}`;
        host.stdout.write(reportOf(json === true, factsOf(event, email ?? null), line));
      }
      before = page.at(-1)?.id;
      if (before === undefined) break;
      isEmpty = false;
    }
    if (isEmpty && json !== true) host.stdout.write("no events\n");
  });
}

function unknownAccount(email: string | undefined): CommandFault {
  return new CommandFault(`--account: there is no account with the address ${email}`, EXIT.failed);
}

function factsOf({ at, ...event }: StoredEvent, email: string | null): object {
  return { at: isoTime(at), email, ...event };
}

export function addOperatorKey(program: Command, host: Host): void {
  program
    .command("operator-key")
    .description("print an address that makes the browser that opens it an operator: once, within an hour")
    .action(() => printOperatorKey(host));
}

async function printOperatorKey(host: Host): Promise<void> {
  const { config, clock, stdout, stderr } = host;
  if (config.databaseUrl === undefined && config.dataDir === ":memory:")
    throw new CommandFault("The store is in memory: another start prints another address", EXIT.failed);
  requireStore(config);
  const { createOperatorUrl } = await import("../accounts/accounts.js");
  await withModules(host, async ({ database }) => {
    const url = await createOperatorUrl(database, config, clock.now());
    if (url === undefined)
      throw new CommandFault(
        "SIDEREAL_BASE_URL or SIDEREAL_TRUSTED_PROXIES opens the service to others: set SIDEREAL_OPERATORS to the addresses of accounts",
        EXIT.failed,
      );
    stdout.write(`${url}\n`);
    if (config.port === 0) stderr.write("Put the port that the service has printed in place of 0.\n");
  });
}

interface SessionsOptions extends RemovalOptions {
  account?: string;
  all?: boolean;
}

export function addSessions(program: Command, host: Host, finish: (code: number) => void): void {
  const command = program
    .command("sessions")
    .description("end sessions of signed-in users")
    .command("end")
    .description(
      "end all sessions of an account, or of everybody; a running service refuses them immediately",
    )
    .option("--account <email>", "those of the account with this address")
    .option("--all", "those of everybody");
  addRemovalOptions(command).action(async (options: SessionsOptions) =>
    finish(await endSessions(host, options)),
  );
}

async function endSessions(host: Host, options: SessionsOptions): Promise<number> {
  const { account, all = false } = options;
  if ((account === undefined) !== all)
    throw new CommandFault("give either --account with an e-mail address, or --all");
  const { countSessions, endSessionsOf, findAccountId } = await import("../accounts/accounts.js");
  return withAccounts(host, async ({ modules, revocations }) => {
    const { database } = modules;
    const id = account === undefined ? undefined : await findAccountId(database.read, account);
    if (account !== undefined && id === undefined) throw unknownAccount(account);
    const name = account ?? "everybody";
    const sessions = await countSessions(database.read, id);
    return remove(host, options, {
      items: [name],
      question: `End ${countOf(sessions, "session")} of ${name}?`,
      verb: "ended",
      describe: () => ({ name: countOf(sessions, "session"), words: ` of ${name}`, facts: { sessions } }),
      carryOut: async () => {
        await endSessionsOf(
          database,
          account === undefined ? "everybody" : { email: account },
          host.clock.now(),
        );
        await revocations.announce();
        await logOperation(host, modules, { event: "account_sessions_ended", target: id ?? name });
      },
    });
  });
}

interface ListOptions {
  json?: boolean;
}

interface KeyOptions extends RemovalOptions {
  reason?: string;
}

export function addAccounts(program: Command, host: Host, finish: (code: number) => void): void {
  const accounts = program
    .command("accounts")
    .description("list and delete accounts, and revoke their API keys");
  accounts
    .command("list")
    .description("list accounts by address, with what they have and their API keys")
    .argument("[text]", "only those with this in their address, or with this id")
    .option("--json", "print one JSON object per account")
    .action((text: string | undefined, options: ListOptions) => list(host, text ?? "", options));
  const removal = accounts
    .command("delete")
    .description("delete accounts with everything they have; says what and asks first")
    .argument("<account...>", "the e-mail address or the id");
  addRemovalOptions(removal.option("--reason <text>", "for the log of operators"))
    .addHelpText("after", EXIT_CODES)
    .action(async (names: string[], options: KeyOptions) => finish(await deleteAll(host, names, options)));
  const revocation = accounts
    .command("revoke-key")
    .description("revoke API keys of anybody")
    .argument("<key...>", "the id that list prints, or the key itself, such as one that has leaked");
  addRemovalOptions(revocation.option("--reason <text>", "for the log of operators"))
    .addHelpText("after", EXIT_CODES)
    .action(async (names: string[], options: KeyOptions) => finish(await revokeAll(host, names, options)));
}

const EXIT_CODES = `
Exit codes:
  0  done, or would be
${REMOVAL_EXIT_CODES}`;

/** Accounts in a list. */
const MAX_LISTED = 1_000;

async function list(host: Host, text: string, { json = false }: ListOptions): Promise<void> {
  const { holdingWords, listAccounts } = await import("../accounts/accounts.js");
  await withAccounts(host, async ({ modules: { database }, keys, bans }) => {
    const now = host.clock.now();
    const found = await listAccounts(database.read, { text, limit: MAX_LISTED + 1, now });
    const banned = new Map((await bans.list()).map((ban) => [ban.accountId, ban]));
    for (const account of found.slice(0, MAX_LISTED)) {
      const { id, email, createdAt, seenAt } = account;
      const own = account.keys === 0 ? [] : await keys.list(id);
      const ban = banned.get(id);
      const words = [
        `${email}  ${id}  since ${isoDay(createdAt)}, ${seenAt === null ? "not seen" : `seen ${isoDay(seenAt)}`}`,
        `${holdingWords(account)}${ban === undefined ? "" : `; banned ${untilWords(ban.endsAt)}`}`,
        ...own.map((key) => `key ${key.id} (…${key.hint}), ${key.name}`),
      ];
      const facts = {
        ...{ ...account, createdAt: isoTime(createdAt), seenAt: timeOrNull(seenAt) },
        keys: own.map((key) => ({ id: String(key.id), hint: key.hint, name: key.name })),
        ban: ban === undefined ? null : { reason: ban.reason, endsAt: timeOrNull(ban.endsAt) },
      };
      host.stdout.write(reportOf(json, facts, words.join("\n  ")));
    }
    if (found.length === 0 && !json) host.stdout.write("no accounts\n");
    if (found.length > MAX_LISTED)
      host.stderr.write(`The first ${MAX_LISTED} are listed: give a part of the address.\n`);
  });
}

async function deleteAll(host: Host, names: readonly string[], options: KeyOptions): Promise<number> {
  const { findAccount, holdingWords, refuseOperator, removeAccount } = await import(
    "../accounts/accounts.js"
  );
  return withAccounts(host, async ({ modules, revocations }) => {
    const { database } = modules;
    const found: AccountRow[] = [];
    for (const name of names) {
      const account = await findAccount(database.read, name, host.clock.now());
      if (account === undefined)
        throw new CommandFault(`${name}: there is no account with this address or id`, EXIT.failed);
      refuseOperator(host.config, account.email);
      found.push(account);
    }
    return remove(host, options, {
      items: found,
      question: `Delete ${countOf(found.length, "account")} for good?`,
      verb: "deleted",
      describe: (account) => ({
        name: account.email,
        words: ` with ${holdingWords(account)}`,
        facts: { ...account, createdAt: isoTime(account.createdAt), seenAt: timeOrNull(account.seenAt) },
      }),
      carryOut: async (account) => {
        await removeAccount(database, account);
        await revocations.announce();
        await database.dialect.eraseDeleted(database.durable);
        // Not the address, which the log would keep.
        const { reason } = options;
        await logOperation(host, modules, { event: "account_removed", target: account.id, reason });
      },
    });
  });
}

async function revokeAll(host: Host, names: readonly string[], options: KeyOptions): Promise<number> {
  const { findAccount, insertEvent } = await import("../accounts/accounts.js");
  return withAccounts(host, async ({ modules, keys }) => {
    const { database } = modules;
    const found: { key: ApiKey; owner: AccountRow }[] = [];
    for (const name of names) {
      const known = await keys.findByName(name);
      const owner = known && (await findAccount(database.read, known.accountId, host.clock.now()));
      const key = owner && (await keys.list(owner.id)).find(({ id }) => id === known?.id);
      // A key is a secret, which no message repeats.
      if (owner === undefined || key === undefined)
        throw new CommandFault("There is no active key with this id or text.", EXIT.failed);
      found.push({ key, owner });
    }
    return remove(host, options, {
      items: found,
      question: `Revoke ${countOf(found.length, "API key")}?`,
      verb: "revoked",
      describe: ({ key, owner }) => ({
        name: `key ${key.id}`,
        words: `: ${key.name} (…${key.hint}) of ${owner.email}`,
        facts: { id: String(key.id), name: key.name, hint: key.hint, account: owner.email },
      }),
      carryOut: async ({ key, owner }) => {
        await keys.revoke(owner.id, key.id);
        const detail = { key: key.id, by: "operator" };
        const at = host.clock.now();
        await insertEvent(database.write, {
          ...{ at, accountId: owner.id, event: "key_revoked", network: "local", detail },
        });
        const { reason } = options;
        await logOperation(host, modules, { event: "account_key_revoked", target: owner.id, reason });
      },
    });
  });
}
