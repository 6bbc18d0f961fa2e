/**
 * The command line: parses arguments, runs one command, prints its report for people or as JSON, and returns an exit code. What
 * the commands do is up to the modules and the host.
 */
import { Command, CommanderError } from "commander";
import { readBuild } from "../lib/version.js";
import { addAccounts, addEvents, addOperatorKey, addSessions } from "./accounts.js";
import { addBackup, addRestore } from "./backup.js";
import { addBan, addUnban } from "./bans.js";
import { addChart } from "./chart.js";
import { addCheck } from "./check.js";
import { addDatabase, addMigrate } from "./database.js";
import { addExamples } from "./examples.js";
import { addDump, addExport } from "./export.js";
import { addHide, addUnhide } from "./hide.js";
import { CommandFault, EXIT, type Host } from "./host.js";
import { addImport } from "./import.js";
import { addInit } from "./init.js";
import { addPublish } from "./publish.js";
import { addRename } from "./rename.js";
import { addHealth, addMcp, addServe } from "./serve.js";
import { addStatus } from "./status.js";
import { addTrack } from "./track.js";
import { addUntrack } from "./untrack.js";
import { addDerive, addWork } from "./work.js";

export { failureOf } from "./failure.js";
export { EXIT, type Host, type Tracker } from "./host.js";

/** Runs one command. Returns the exit code. Throws a ConfigError for settings that cannot be used. */
export async function runProgram(host: Host, argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = createProgram(host, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CommandFault)) throw error;
    host.stderr.write(`${error.message}\n`);
    return error.code;
  }
}

/** All commands, which report their exit code to `finish` if it is not 0. */
export function createProgram(host: Host, finish: (code: number) => void): Command {
  const program = new Command("sidereal")
    .description("Tracks repositories across forges: snapshots, growth, search, and an API.")
    .version(versionWords(), "-V, --version", "print the version, and the commit that it was built from");
  program.configureOutput({
    writeOut: (text) => host.stdout.write(text),
    writeErr: (text) => host.stderr.write(text),
  });
  program.exitOverride().showHelpAfterError("(sidereal --help lists the commands)");
  program.hook("preAction", (_, command) => {
    // Wrong settings are reported before anything is opened. `init` needs none.
    if (command.name() !== "init") void host.config;
  });
  addInit(program, host, finish);
  addServe(program, host);
  addHealth(program, host, finish);
  addWork(program, host);
  addTrack(program, host, finish);
  addUntrack(program, host, finish);
  addHide(program, host, finish);
  addUnhide(program, host);
  addChart(program, host, finish);
  addPublish(program, host, finish);
  addStatus(program, host);
  addMcp(program, host);
  addEvents(program, host);
  addImport(program, host, finish);
  addExport(program, host);
  addDump(program, host);
  addDerive(program, host);
  addBackup(program, host);
  addRestore(program, host, finish);
  addCheck(program, host, finish);
  addMigrate(program, host, finish);
  addDatabase(program, host);
  addRename(program, host);
  addAccounts(program, host, finish);
  addBan(program, host, finish);
  addUnban(program, host);
  addSessions(program, host, finish);
  addOperatorKey(program, host);
  for (const command of program.commands) command.exitOverride();
  addExamples(program);
  return program;
}

function versionWords(): string {
  const { version, commit } = readBuild();
  return commit === undefined ? version : `${version} (${commit})`;
}
