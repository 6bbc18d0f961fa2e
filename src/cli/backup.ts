/** `backup` and `restore`: everything that a store holds, in one file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { secretFileOf } from "../accounts/accounts.js";
import { BackupRefused } from "../database/database.js";
import { isoTime } from "../lib/clock.js";
import {
  BACKUP_NOTE,
  type BackupPlace,
  checkBackup,
  restoreBackup,
  takeBackup,
} from "../transfer/transfer.js";
import { EXIT, type Host, type Progress, reportOf, showProgress } from "./host.js";

export function addBackup(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("backup")
    .description("write everything that is stored to one file, while the service runs; restore reads it")
    .argument("<file>", "output file; replaced if it is there")
    .option("--json", "print the report as JSON")
    .action(async (file: string, { json }: { json?: boolean }) =>
      finish(await refusing(host, json === true, () => runBackup(host, file, json === true))),
    );
}

async function runBackup(host: Host, file: string, json: boolean): Promise<number> {
  const { clock, stdout } = host;
  const began = clock.monotonic();
  const progress = showBytes();
  const report = await takeBackup(file, placeOf(host), { clock, onProgress: progress.update }).finally(
    progress.stop,
  );
  const seconds = secondsSince(host, began);
  const { hasSecret, fileBytes, bytes, ...header } = report;
  noteBackup(host, { takenAt: header.takenAt, fileBytes });
  stdout.write(
    reportOf(
      json,
      { file, ...header, takenAt: isoTime(header.takenAt), fileBytes, bytes, hasSecret, seconds },
      `${file} is complete and checked: ${megabytes(fileBytes)}, version ${header.version}, in ${seconds} s
It has hashed keys and addresses of people${hasSecret ? ", and the secret of the service" : ""}: keep it as safe as the database.`,
    ),
  );
  return EXIT.ok;
}

/** Notes a backup for the page of operators, in the data folder if there is one. The backup is good even if that fails. */
function noteBackup({ config: { dataDir } }: Host, note: { takenAt: number; fileBytes: number }): void {
  try {
    writeFileSync(join(dataDir, BACKUP_NOTE), `${JSON.stringify(note)}\n`, { mode: 0o600 });
  } catch {}
}

interface RestoreFlags {
  check?: boolean;
  replace?: boolean;
  json?: boolean;
}

export function addRestore(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("restore")
    .description("restore a backup, after checking all of it; the service must not run")
    .argument("<file>", "what backup has written")
    .option("--check", "only check the backup")
    .option(
      "--replace",
      "replace the database that is there: a SQLite file is kept under another name, in PostgreSQL its tables are dropped",
    )
    .option("--json", "print the report as JSON")
    .action(async (file: string, flags: RestoreFlags) =>
      finish(await refusing(host, flags.json === true, () => runRestore(host, file, flags))),
    );
}

async function runRestore(
  host: Host,
  file: string,
  { check: isCheck = false, replace: replaces = false, json = false }: RestoreFlags,
): Promise<number> {
  const began = host.clock.monotonic();
  const { takenAt, bytes, ...checked } = await checkBackup(file);
  if (!isCheck) {
    const progress = showBytes();
    const options = { clock: host.clock, replaces, total: bytes, onProgress: progress.update };
    await restoreBackup(file, placeOf(host), options).finally(progress.stop);
  }
  const seconds = secondsSince(host, began);
  const done = isCheck ? "is whole" : "is restored";
  host.stdout.write(
    reportOf(
      json,
      { file, ...checked, takenAt: isoTime(takenAt), bytes, restored: !isCheck, seconds },
      `${file} of ${isoTime(takenAt)} ${done}: ${megabytes(bytes)}, version ${checked.version}, in ${seconds} s`,
    ),
  );
  return EXIT.ok;
}

/** Where the configured store is, with its secret. */
export function placeOf({ config }: Host): BackupPlace {
  const { databaseUrl: url, dataDir } = config;
  return { location: { url, dataDir }, secretFile: secretFileOf(config) };
}

/** Runs a command whose refusals are messages for the operator. */
export async function refusing(host: Host, json: boolean, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    const isRefusal = error instanceof BackupRefused;
    // A full disk or a missing folder.
    const isOfFiles = code !== undefined && /^E[A-Z]+$/.test(code);
    if (!(error instanceof Error && (isRefusal || isOfFiles))) throw error;
    host.stderr.write(reportOf(json, { error: error.message }, error.message));
    return EXIT.failed;
  }
}

/** A bar for bytes, whose total becomes known with the first of them. */
export function showBytes(): { update: (bytes: number, total: number) => void; stop: () => void } {
  let progress: Progress | undefined;
  return {
    update(bytes, total) {
      progress ??= showProgress(
        Math.round(total / MEGABYTE),
        "  {bar} {percentage} %  {value} of {total} MB  {eta_formatted} left",
      );
      progress.update(Math.round(bytes / MEGABYTE));
    },
    stop: () => progress?.stop(),
  };
}

const MEGABYTE = 1e6;

export const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

export function secondsSince({ clock }: Host, began: number): number {
  return Math.round((clock.monotonic() - began) / 100) / 10;
}
