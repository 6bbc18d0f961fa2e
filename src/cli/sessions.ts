import type { Command } from "commander";
import { EXIT, type Host } from "./host.js";
import { reportOf } from "./progress.js";

interface Options {
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
    .action(async (options: Options) => finish(await end(host, options)));
}

async function end(host: Host, { account, all = false, json = false }: Options): Promise<number> {
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
    await redis?.messages.publish("revoked");
    host.stdout.write(reportOf(json, { ended }, `${ended} sessions ended`));
    return EXIT.ok;
  } finally {
    await database.close();
  }
}
