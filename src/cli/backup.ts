/** `backup` and `restore`: all primary data of a store, in one file. */
import type { Command } from "commander";
import { secretFileOf } from "../accounts/accounts.js";
import { hasStore } from "../database/database.js";
import { createLog } from "../lib/log.js";
import { repositoriesText } from "../repositories/repositories.js";
import {
  type BackupPlace,
  checkBackup,
  noteBackup,
  restoreBackup,
  takeBackup,
} from "../transfer/transfer.js";
import { EXIT, type Host, reportOf, showProgress, withModules } from "./host.js";
import { deriveWithProgress } from "./import.js";
import { addRemovalOptions, countOf, type RemovalOptions, remove } from "./removal.js";

export function addBackup(program: Command, host: Host): void {
  program
    .command("backup")
    .description(
      "write all data to one file, while the service runs; restore reads it, into SQLite or PostgreSQL",
    )
    .argument("<file>", "output file; replaces an earlier backup")
    .option("--json", "print the report as JSON")
    .action((file: string, { json = false }: { json?: boolean }) => runBackup(host, file, json));
}

async function runBackup(host: Host, file: string, json: boolean): Promise<void> {
  const began = host.clock.monotonic();
  const progress = lazyProgress("writing", "rows");
  const report = await takeBackup(file, placeOf(host), progress.update).finally(progress.stop);
  const { fileBytes, secrets, takenAt, rows } = report;
  await noteBackup(host.config.dataDir, { takenAt: Date.parse(takenAt), fileBytes });
  const seconds = secondsSince(host, began);
  const holds =
    secrets.length === 0 ? "" : `\nIt has ${secrets.join(", ")}: keep it as safe as the database.`;
  const sentence = `${file} is complete and checked: ${rowsOf(rows)} rows, ${megabytes(fileBytes)}, in ${seconds} s${holds}`;
  host.stdout.write(reportOf(json, { file, ...report, seconds }, sentence));
}

interface RestoreFlags extends RemovalOptions {
  check?: boolean;
  replace?: boolean;
}

export function addRestore(program: Command, host: Host, finish: (code: number) => void): void {
  const command = program
    .command("restore")
    .description("check a backup, then restore it into the configured database; stop the service first")
    .argument("<file>", "a backup of either engine")
    .option("--check", "only check the backup")
    .option(
      "--replace",
      "replace the existing database, after a question: a SQLite file is kept under another name, PostgreSQL tables are dropped",
    );
  addRemovalOptions(command).action(async (file: string, flags: RestoreFlags) =>
    finish(await runRestore(host, file, flags)),
  );
}

async function runRestore(host: Host, file: string, flags: RestoreFlags): Promise<number> {
  const { check = false, dryRun = false, replace: replaces = false, json = false } = flags;
  const began = host.clock.monotonic();
  const progress = lazyProgress("checking", "bytes");
  const report = await checkBackup(file, progress.update).finally(progress.stop);
  let restored = false;
  const restore = async () => {
    const { update, stop } = lazyProgress("restoring", "bytes");
    await restoreBackup(file, placeOf(host), replaces, update).finally(stop);
    await withModules(host, deriveWithProgress);
    restored = true;
  };
  const held = replaces && !check ? await readHeld(host) : undefined;
  if (held !== undefined) {
    const code = await remove(host, flags, {
      items: [held],
      question: `Replace the database by the backup of ${report.takenAt}?`,
      verb: "replaced",
      describe: ({ words, facts }) => ({ name: `the database with ${words}`, words: "", facts }),
      carryOut: restore,
    });
    if (code !== EXIT.ok) return code;
  } else if (!check && !dryRun) await restore();
  const seconds = secondsSince(host, began);
  const done = restored ? "is restored" : "is whole";
  const sentence = `${file} of ${report.takenAt} ${done}: ${rowsOf(report.rows)} rows, version ${report.version}, in ${seconds} s`;
  host.stdout.write(reportOf(json, { file, ...report, restored, seconds }, sentence));
  return EXIT.ok;
}

/** What the database has that would be replaced; undefined: nothing. */
async function readHeld(host: Host): Promise<{ words: string; facts: object } | undefined> {
  const { databaseUrl, dataDir } = host.config;
  if (databaseUrl === undefined && !hasStore(dataDir)) return undefined;
  try {
    return await withModules(host, async ({ database: { read } }) => {
      const count = async (table: "repositories" | "accounts") => {
        const { n } = await read
          .selectFrom(table)
          .select(({ fn }) => fn.countAll().as("n"))
          .executeTakeFirstOrThrow();
        return Number(n);
      };
      const facts = { repositories: await count("repositories"), accounts: await count("accounts") };
      const words = `${repositoriesText(facts.repositories)} and ${countOf(facts.accounts, "account")}`;
      return facts.repositories + facts.accounts === 0 ? undefined : { words, facts };
    });
  } catch {
    // A damaged or older one is what backups are for.
    return { words: "content that cannot be read", facts: { repositories: null, accounts: null } };
  }
}

/** The place of the configured store, with its secret. */
function placeOf({ config, clock }: Host): BackupPlace {
  const { databaseUrl: url, dataDir } = config;
  return { location: { url, dataDir }, secretFile: secretFileOf(config), clock, log: createLog("silent") };
}

/** A bar whose total becomes known with its first update. */
function lazyProgress(
  step: string,
  unit: string,
): { update: (done: number, total: number) => void; stop: () => void } {
  let bar: ReturnType<typeof showProgress> | undefined;
  return {
    update(done, total) {
      bar ??= showProgress(
        total,
        `  ${step} {bar} {percentage} %  {value} of {total} ${unit}  {eta_formatted} left`,
      );
      bar.update(done);
    },
    stop: () => bar?.stop(),
  };
}

const rowsOf = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function secondsSince({ clock }: Host, began: number): number {
  return Math.round((clock.monotonic() - began) / 100) / 10;
}
