import type { Command } from "commander";
import { DistributionRefused, distribute } from "../database/database.js";
import { secondsSince } from "./backup.js";
import { CommandFault, EXIT, type Host, withModules } from "./host.js";

/** Maximum number of shards, enough for a cluster of any size. */
const MAX_SHARDS = 1_024;

export function addDatabase(program: Command, host: Host): void {
  program
    .command("database")
    .description("maintain the database")
    .command("distribute")
    .description(
      "distribute the history of repositories over the nodes of a Citus cluster, while the service runs; continues after an interruption",
    )
    .option("--shards <count>", "shards of each table; default: citus.shard_count of the server")
    .action(({ shards }: { shards?: string }) => runDistribute(host, shards));
}

async function runDistribute(host: Host, given: string | undefined): Promise<void> {
  const { clock, stdout } = host;
  const shards = given === undefined ? undefined : Number(given);
  if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS))
    throw new CommandFault(`--shards: must be a whole number from 1 to ${MAX_SHARDS}`);
  const began = clock.monotonic();
  const onTable = (table: string, pausedMs: number) =>
    stdout.write(`${table}: writes paused for ${(pausedMs / 1_000).toFixed(1)} s\n`);
  await withModules(host, ({ database }) => distribute(database, { clock, shards, onTable })).catch(
    (error: unknown) => {
      throw error instanceof DistributionRefused ? new CommandFault(error.message, EXIT.failed) : error;
    },
  );
  stdout.write(`done in ${secondsSince(host, began)} s\n`);
}
