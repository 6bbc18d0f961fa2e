import type { Command } from "commander";
import { checkBackup, restoreBackup } from "../backups/backups.js";
import { isoTime } from "../clock.js";
import { megabytes, placeOf, refusing, secondsSince, showBytes } from "./backup.js";
import { EXIT, type Host } from "./host.js";
import { reportOf } from "./progress.js";

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
