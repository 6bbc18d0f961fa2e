import type { Command } from "commander";
import type { StoredEvent } from "../accounts/accounts.js";
import { isoTime } from "../clock.js";
import { EXIT, type Host } from "./host.js";
import { reportOf } from "./progress.js";

/** Events read by one statement. */
const PAGE = 500;

interface Options {
  account?: string;
  since?: string;
  json?: boolean;
}

export function addEvents(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("events")
    .description("list the security log, latest first: sign-ins, keys, and what was refused")
    .option("--account <email>", "only those of this account; also by the id of an account that is deleted")
    .option("--since <time>", "only those from this time on, such as 2026-04-30 or 2026-04-30T12:00:00Z")
    .option("--json", "print one JSON object per event")
    .action(async (options: Options) => finish(await list(host, options)));
}

async function list(host: Host, { account, since, json }: Options): Promise<number> {
  const from = since === undefined ? undefined : Date.parse(since);
  if (from !== undefined && Number.isNaN(from)) {
    host.stderr.write("--since: must be a date such as 2026-04-30, or a time such as 2026-04-30T12:00:00Z\n");
    return EXIT.usage;
  }
  const { addressesOf, describeEvent, findAccountId, readEvents } = await import("../accounts/accounts.js");
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
        const who = email ?? event.accountId ?? "nobody";
        const line = `${isoTime(event.at)}  ${who}  ${describeEvent(event)}`;
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
