/** The commands that ban accounts and networks, and lift that; and what commands about accounts share. */
import type { Command } from "commander";
import type { AccountRow, ApiKeys, Bans, Revocations } from "../accounts/accounts.js";
import { BackgroundWrites } from "../lib/background-writes.js";
import { DAY_MS, isoTime, readDays, timeOrNull } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { createLog } from "../lib/log.js";
import type { Modules } from "../modules.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import {
  addRemovalOptions,
  countOf,
  logOperation,
  REMOVAL_EXIT_CODES,
  type RemovalOptions,
  remove,
} from "./removal.js";

interface AccountParts {
  modules: Modules;
  bans: Bans;
  keys: ApiKeys;
  /** Announced to the processes that serve. */
  revocations: Revocations;
}

/** Opens the store of the settings for work with accounts. An error that may be shown ends the command. */
export async function withAccounts<T>(host: Host, work: (parts: AccountParts) => Promise<T>): Promise<T> {
  const { ApiKeys, Bans, Revocations } = await import("../accounts/accounts.js");
  const { clock, config } = host;
  requireStore(config);
  return withModules(host, async (modules) => {
    const { database, redis } = modules;
    const log = createLog("silent");
    const revocations = new Revocations(async () => redis?.announceRevocation());
    const bans = new Bans({ database, config, clock, revocations });
    const writes = new BackgroundWrites(log);
    const keys = new ApiKeys({ database, config, clock, log, revocations, writes, bans });
    try {
      return await work({ modules, bans, keys, revocations });
    } catch (error) {
      throw error instanceof AppError ? new CommandFault(error.message, EXIT.failed) : error;
    }
  });
}

interface BanOptions extends RemovalOptions {
  reason?: string;
  for?: string;
  list?: boolean;
}

/** What is banned: an account, or a network. */
type Banned = { account: AccountRow } | { network: string; sessions: number };

const WHO = "the e-mail address or id of an account, an IP address, or a network such as 203.0.113.0/24";

const EXIT_CODES = `
Exit codes:
  0  all are banned, or would be
${REMOVAL_EXIT_CODES}`;

export function addBan(program: Command, host: Host, finish: (code: number) => void): void {
  const command = program
    .command("ban")
    .description("refuse accounts, with their sessions and API keys, or networks; says what and asks first")
    .argument("[who...]", WHO)
    .option("--for <days>", "end it after this time, such as 30d")
    .option("--reason <text>", "only operators see it")
    .option("--list", "list the bans in force");
  addRemovalOptions(command)
    .addHelpText("after", EXIT_CODES)
    .action(async (names: string[], options: BanOptions) =>
      finish(await (options.list === true ? list(host, options) : ban(host, names, options))),
    );
}

export function addUnban(program: Command, host: Host): void {
  program
    .command("unban")
    .description("lift bans")
    .argument("<who...>", WHO)
    .option("--reason <text>", "for the log of operators")
    .option("--json", "print JSON objects")
    .action((names: string[], options: BanOptions) => unban(host, names, options));
}

/** Until when something lasts. */
export const untilWords = (endsAt: number | null): string =>
  endsAt === null ? "until it is lifted" : `until ${isoTime(endsAt)}`;

async function ban(host: Host, names: readonly string[], options: BanOptions): Promise<number> {
  const { for: length } = options;
  if (names.length === 0) throw new CommandFault(`Say whom to ban: ${WHO}.`);
  const days = length === undefined ? null : readDays(length);
  if (days === undefined) throw new CommandFault("--for: must be from 1d to 3650d");
  const { MAX_BAN_REASON } = await import("../accounts/accounts.js");
  if ((options.reason?.length ?? 0) > MAX_BAN_REASON)
    throw new CommandFault(`--reason: must have at most ${MAX_BAN_REASON} characters`);
  return withAccounts(host, async ({ modules, bans }) => {
    const items: Banned[] = [];
    for (const name of names) items.push(await bannedOf(host, { modules, bans }, name));
    const endsAt = days === null ? null : host.clock.now() + days * DAY_MS;
    return remove(host, options, {
      items,
      question: `Ban ${countOf(items.length, "account or network", "accounts or networks")}?`,
      verb: "banned",
      describe: (one) => ({
        name: nameOf(one),
        words: ` ${untilWords(endsAt)}${effectWords(one)}; undo: ${undoOf(one)}`,
        facts: { ...factsOf(one), endsAt: timeOrNull(endsAt), undo: undoOf(one) },
      }),
      carryOut: async (one) => {
        const target = "account" in one ? { accountId: one.account.id, email: one.account.email } : one;
        const { reason } = options;
        await bans.ban(target, { reason: reason ?? "", endsAt });
        await logOperation(host, modules, { event: "banned", target: keyOf(one), reason, undo: undoOf(one) });
      },
    });
  });
}

async function bannedOf(
  host: Host,
  { modules, bans }: Pick<AccountParts, "modules" | "bans">,
  name: string,
): Promise<Banned> {
  const { countOperatorSessions, findAccount, refuseOperator } = await import("../accounts/accounts.js");
  const { read } = modules.database;
  if (/[.:/]/.test(name) && !name.includes("@")) {
    const { name: network } = bans.readNetwork(name);
    return { network, sessions: await countOperatorSessions(read, host.config, network) };
  }
  const account = await findAccount(read, name, host.clock.now());
  if (account === undefined) throw new CommandFault(`${name}: there is no such account`, EXIT.failed);
  refuseOperator(host.config, account.email);
  return { account };
}

const nameOf = (one: Banned): string => ("account" in one ? one.account.email : one.network);

/** What the log keeps of it: not the address of an account. */
const keyOf = (one: Banned): string => ("account" in one ? one.account.id : one.network);

const undoOf = (one: Banned): string => `sidereal unban ${keyOf(one)}`;

const factsOf = (one: Banned): object =>
  "account" in one
    ? {
        account: one.account.email,
        id: one.account.id,
        sessions: one.account.sessions,
        keys: one.account.keys,
      }
    : { network: one.network, operatorSessions: one.sessions };

/** What a ban ends. */
function effectWords(one: Banned): string {
  if ("account" in one)
    return `; ${countOf(one.account.sessions, "session")} and ${countOf(one.account.keys, "API key")} of it`;
  return one.sessions === 0
    ? ""
    : `; ATTENTION: ${countOf(one.sessions, "session")} of operators began near it`;
}

async function unban(host: Host, names: readonly string[], options: BanOptions): Promise<void> {
  const { json = false, reason } = options;
  await withAccounts(host, async ({ modules, bans }) => {
    for (const name of names) {
      const one = await bannedOf(host, { modules, bans }, name);
      const target = "account" in one ? { accountId: one.account.id } : one;
      const lifted = await bans.lift(target);
      if (lifted) await logOperation(host, modules, { event: "unbanned", target: keyOf(one), reason });
      const result = lifted ? "unbanned" : "was not banned";
      host.stdout.write(reportOf(json, { ...factsOf(one), result }, `${nameOf(one)}: ${result}`));
    }
  });
}

async function list(host: Host, { json = false }: BanOptions): Promise<number> {
  await withAccounts(host, async ({ modules, bans }) => {
    const { addressesOf } = await import("../accounts/accounts.js");
    const found = await bans.list();
    const ids = found.flatMap(({ accountId }) => accountId ?? []);
    const addresses = await addressesOf(modules.database, ids);
    for (const { accountId, network, reason, bannedAt, endsAt } of found) {
      const who = network ?? addresses.get(accountId ?? "") ?? "";
      const facts = {
        who,
        accountId,
        network,
        reason,
        bannedAt: isoTime(bannedAt),
        endsAt: timeOrNull(endsAt),
      };
      const words = `${who}  since ${isoTime(bannedAt)}, ${untilWords(endsAt)}  ${reason}`;
      host.stdout.write(reportOf(json, facts, words.trimEnd()));
    }
    if (found.length === 0 && !json) host.stdout.write("no bans\n");
  });
  return EXIT.ok;
}
