/** The commands about accounts and operators: their events, ending sessions, and becoming an operator. */
import type { Command } from "commander";
import type { StoredEvent } from "../accounts/accounts.js";
import { isoTime } from "../lib/clock.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";

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
  const { ACCOUNT_EVENTS, OPERATOR_EVENTS, addressesOf, findAccountId, readEvents, ...words } = await import(
    "../accounts/accounts.js"
  );
  const { actorWords, agentOf, detailWords, eventWords } = words;
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
      const ids = new Set(page.flatMap(({ accountId }) => (accountId === null ? [] : [accountId])));
      const addresses = await addressesOf(database, [...ids]);
      for (const event of page) {
        const email = addresses.get(event.accountId ?? "");
        const who = actorWords(event, email);
        const what = [eventWords(event.event), detailWords(event.detail)].filter(Boolean).join("; ");
        const from = [event.network, agentOf(event.detail)].filter(Boolean).join(", ");
        const line = `${isoTime(event.at)}  ${who}  ${what}, from ${from}`;
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

interface SessionsOptions {
  account?: string;
  all?: boolean;
  json?: boolean;
}

export function addSessions(program: Command, host: Host): void {
  program
    .command("sessions")
    .description("end sessions of signed-in users")
    .command("end")
    .description(
      "end all sessions of an account, or of everybody; a running service refuses them immediately",
    )
    .option("--account <email>", "those of the account with this address")
    .option("--all", "those of everybody")
    .option("--json", "print one JSON object")
    .action((options: SessionsOptions) => endSessions(host, options));
}

async function endSessions(
  host: Host,
  { account, all = false, json = false }: SessionsOptions,
): Promise<void> {
  if ((account === undefined) !== all)
    throw new CommandFault("give either --account with an e-mail address, or --all");
  const { endSessionsOf } = await import("../accounts/accounts.js");
  requireStore(host.config);
  await withModules(host, async ({ database, redis }) => {
    const whose = account === undefined ? "everybody" : { email: account };
    const ended = await endSessionsOf(database, whose, host.clock.now());
    if (ended === undefined) throw unknownAccount(account);
    await redis?.announceRevocation();
    host.stdout.write(reportOf(json, { ended }, `${ended} sessions ended`));
  });
}
