/** `backup` and `restore`: all primary data of a store, in one file. */
import type { Command } from "commander";
import { secretFileOf } from "../accounts/accounts.js";
import { createLog } from "../lib/log.js";
import {
  type BackupPlace,
  checkBackup,
  noteBackup,
  restoreBackup,
  takeBackup,
} from "../transfer/transfer.js";
import { type Host, reportOf, showProgress, withModules } from "./host.js";
import { deriveWithProgress } from "./import.js";

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
  const sentence = `${file} is complete and checked: ${countOf(rows)} rows, ${megabytes(fileBytes)}, in ${seconds} s${holds}`;
  host.stdout.write(reportOf(json, { file, ...report, seconds }, sentence));
}

interface RestoreFlags {
  check?: boolean;
  replace?: boolean;
  json?: boolean;
}

export function addRestore(program: Command, host: Host): void {
  program
    .command("restore")
    .description("check a backup, then restore it into the configured database; stop the service first")
    .argument("<file>", "a backup of either engine")
    .option("--check", "only check the backup")
    .option(
      "--replace",
      "replace the existing database: a SQLite file is kept under another name, PostgreSQL tables are dropped",
    )
    .option("--json", "print the report as JSON")
    .action((file: string, flags: RestoreFlags) => runRestore(host, file, flags));
}

async function runRestore(host: Host, file: string, flags: RestoreFlags): Promise<void> {
  const { check = false, replace: replaces = false, json = false } = flags;
  const began = host.clock.monotonic();
  const progress = lazyProgress("checking", "bytes");
  const report = await checkBackup(file, progress.update).finally(progress.stop);
  if (!check) {
    const { update, stop } = lazyProgress("restoring", "bytes");
    await restoreBackup(file, placeOf(host), replaces, update).finally(stop);
    await withModules(host, deriveWithProgress);
  }
  const seconds = secondsSince(host, began);
  const done = check ? "is whole" : "is restored";
  const sentence = `${file} of ${report.takenAt} ${done}: ${countOf(report.rows)} rows, version ${report.version}, in ${seconds} s`;
  host.stdout.write(reportOf(json, { file, ...report, restored: !check, seconds }, sentence));
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

const countOf = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function secondsSince({ clock }: Host, began: number): number {
  return Math.round((clock.monotonic() - began) / 100) / 10;
}
