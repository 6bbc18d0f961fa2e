/** `migrate` and `database`: the schema, and the servers that hold it. */
import type { Command } from "commander";
import {
  DistributionRefused,
  distribute,
  LATEST_VERSION,
  type MigrationState,
  openBackgroundReader,
  readMigrations,
} from "../database/database.js";
import { isoTime } from "../lib/clock.js";
import { createLog } from "../lib/log.js";
import { readBackupNote } from "../transfer/transfer.js";
import { secondsSince } from "./backup.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";

/** Maximum number of shards, enough for a cluster of any size. */
const MAX_SHARDS = 1_024;

export function addMigrate(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("migrate")
    .description("bring the database of an earlier version up to date; start, serve and work do that too")
    .option("--check", "only say what would change; exits with 4 if something would")
    .option("--json", "print the report as JSON")
    .action(async ({ check = false, json = false }: { check?: boolean; json?: boolean }) => {
      const state = await readState(host);
      const isDone = !check && state.steps.length > 0;
      if (isDone) await withModules(host, async () => {}, { upgrades: true });
      else if (state.steps.length > 0) finish(EXIT.pending);
      const backup = await readBackupNote(host.config.dataDir);
      const lastBackupAt = backup === null ? null : isoTime(backup.takenAt);
      const report = { ...state, needed: LATEST_VERSION, migrated: isDone, lastBackupAt };
      host.stdout.write(reportOf(json, report, describeMigration(state, isDone, lastBackupAt)));
    });
}

async function readState({ config }: Host): Promise<MigrationState> {
  requireStore(config);
  const { databaseUrl: url, dataDir } = config;
  const { dialect, read, close } = openBackgroundReader({ url, dataDir, log: createLog("silent") });
  return readMigrations(read, dialect).finally(close);
}

function describeMigration(
  { version, steps }: MigrationState,
  isDone: boolean,
  lastBackupAt: string | null,
): string {
  if (steps.length === 0) return `The database is at version ${version}, which this Sidereal needs.`;
  const lines = steps.map((step) => `  ${step.version}: ${step.name}`);
  if (isDone) return [`The database is now at version ${LATEST_VERSION}:`, ...lines].join("\n");
  const from = version === 0 ? "The database is empty" : `The database is at version ${version}`;
  return [
    `${from}. "sidereal migrate" brings it to version ${LATEST_VERSION}, and there is no way back:`,
    ...lines,
    lastBackupAt === null
      ? "No backup was taken on this machine: take one with the Sidereal that runs now."
      : `The last backup on this machine is of ${lastBackupAt}.`,
  ].join("\n");
}

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
