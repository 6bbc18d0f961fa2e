import type { Command } from "commander";
import { DistributionRefused, distribute } from "../database/database.js";
import { secondsSince } from "./backup.js";
import { EXIT, type Host } from "./host.js";

/** Maximum number of shards, enough for a cluster of any size. */
const MAX_SHARDS = 1_024;

export function addDatabase(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("database")
    .description("maintain the database")
    .command("distribute")
    .description(
      "distribute the history of repositories over the nodes of a Citus cluster, while the service runs; continues after an interruption",
    )
    .option("--shards <count>", "shards of each table; default: citus.shard_count of the server")
    .action(async ({ shards }: { shards?: string }) => finish(await runDistribute(host, shards)));
}

async function runDistribute(host: Host, given: string | undefined): Promise<number> {
  const { clock, stdout, stderr } = host;
  const shards = given === undefined ? undefined : Number(given);
  if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS)) {
    stderr.write(`--shards: must be a whole number from 1 to ${MAX_SHARDS}\n`);
    return EXIT.usage;
  }
  const began = clock.monotonic();
  const { database } = await host.openModules();
  try {
    await distribute(database, {
      clock,
      shards,
      onTable: (table, pausedMs) =>
        stdout.write(`${table}: writes paused for ${(pausedMs / 1_000).toFixed(1)} s\n`),
    });
    stdout.write(`done in ${secondsSince(host, began)} s\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof DistributionRefused)) throw error;
    stderr.write(`${error.message}\n`);
    return EXIT.failed;
  } finally {
    await database.close();
  }
}
