/** The commands about accounts: what happened to them, and ending sessions. */
import type { Command } from "commander";
import type { StoredEvent } from "../accounts/accounts.js";
import { isoTime } from "../lib/clock.js";
import { EXIT, type Host, reportOf } from "./host.js";

/** Events read by one statement. */
const PAGE = 500;

interface EventsOptions {
  account?: string;
  since?: string;
  json?: boolean;
}

export function addEvents(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("events")
    .description("list account events, latest first: sign-ins, sessions, keys")
    .option("--account <email>", "only those of this account; the id of a deleted account works too")
    .option("--since <time>", "only those since this time, such as 2026-04-30 or 2026-04-30T12:00:00Z")
    .option("--json", "print one JSON object per event")
    .action(async (options: EventsOptions) => finish(await listEvents(host, options)));
}

async function listEvents(host: Host, { account, since, json }: EventsOptions): Promise<number> {
  const from = since === undefined ? undefined : Date.parse(since);
  if (from !== undefined && Number.isNaN(from)) {
    host.stderr.write("--since: must be a date such as 2026-04-30, or a time such as 2026-04-30T12:00:00Z\n");
    return EXIT.usage;
  }
  const { addressesOf, agentOf, detailWords, eventWords, findAccountId, readEvents } = await import(
    "../accounts/accounts.js"
  );
  const { database } = await host.openModules();
  try {
    const id = account?.includes("@") === true ? await findAccountId(database.read, account) : account;
    if (account !== undefined && id === undefined) {
      host.stderr.write(`--account: there is no account with the address ${account}\n`);
      return EXIT.failed;
    }
    let isEmpty = true;
    for (let before: number | undefined; ; ) {
      const page = await readEvents(database.read, { accountId: id, since: from, before, limit: PAGE });
      const ids = new Set(page.flatMap(({ accountId }) => (accountId === null ? [] : [accountId])));
      const addresses = await addressesOf(database, [...ids]);
      for (const event of page) {
        const email = event.accountId === null ? null : (addresses.get(event.accountId) ?? null);
        const who = email ?? event.accountId ?? "operator";
        const what = [eventWords(event.event), detailWords(event.detail)].filter(Boolean).join("; ");
        const from = [event.network, agentOf(event.detail)].filter(Boolean).join(", ");
        const line = `${isoTime(event.at)}  ${who}  ${what}, from ${from}`;
        host.stdout.write(reportOf(json === true, factsOf(event, email), line));
      }
      before = page.at(-1)?.id;
      if (before === undefined) break;
      isEmpty = false;
    }
    if (isEmpty && json !== true) host.stdout.write("no events\n");
    return EXIT.ok;
  } finally {
    await database.close();
  }
}

function factsOf({ at, ...event }: StoredEvent, email: string | null): object {
  return { at: isoTime(at), email, ...event };
}

interface SessionsOptions {
  account?: string;
  all?: boolean;
  json?: boolean;
}

export function addSessions(program: Command, host: Host, finish: (code: number) => void): void {
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
    .action(async (options: SessionsOptions) => finish(await endSessions(host, options)));
}

async function endSessions(
  host: Host,
  { account, all = false, json = false }: SessionsOptions,
): Promise<number> {
  if ((account === undefined) !== all) {
    host.stderr.write("give either --account with an e-mail address, or --all\n");
    return EXIT.usage;
  }
  const { endSessionsOf } = await import("../accounts/accounts.js");
  const { database, redis } = await host.openModules();
  try {
    const whose = account === undefined ? "everybody" : { email: account };
    const ended = await endSessionsOf(database, whose, host.clock.now());
    if (ended === undefined) {
      host.stderr.write(`--account: there is no account with the address ${account}\n`);
      return EXIT.failed;
    }
    await redis?.announceRevocation();
    host.stdout.write(reportOf(json, { ended }, `${ended} sessions ended`));
    return EXIT.ok;
  } finally {
    await database.close();
  }
}
