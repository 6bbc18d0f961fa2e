/**
 * The command line: parses arguments, runs one command, prints its report for people or as JSON, and returns an exit code. What
 * the commands do is up to the modules and the host.
 */
import { Command, CommanderError } from "commander";
import { addBackup } from "./backup.js";
import { addDemo } from "./demo.js";
import { addDerive } from "./derive.js";
import { addDoctor } from "./doctor.js";
import { addDump } from "./dump.js";
import { addEvents } from "./events.js";
import { addExport } from "./export.js";
import { EXIT, type Host } from "./host.js";
import { addImport } from "./import.js";
import { addRenames } from "./renames.js";
import { addRestore } from "./restore.js";
import { addServe } from "./serve.js";
import { addSessions } from "./sessions.js";
import { addStatus } from "./status.js";
import { addTrack } from "./track.js";
import { addWork } from "./work.js";

export { EXIT, type Host } from "./host.js";

/** Runs one command. Returns the exit code. */
export async function runProgram(host: Host, argv: readonly string[]): Promise<number> {
  const program = new Command("sidereal").description(
    "Tracks repositories across forges: snapshots, growth, search, and an API.",
  );
  program.configureOutput({
    writeOut: (text) => host.stdout.write(text),
    writeErr: (text) => host.stderr.write(text),
  });
  program.exitOverride().showHelpAfterError("(sidereal --help lists the commands)");
  let code: number = EXIT.ok;
  const finish = (result: number) => {
    code = result;
  };
  addServe(program, host);
  addWork(program, host, finish);
  addTrack(program, host, finish);
  addStatus(program, host);
  addEvents(program, host, finish);
  addImport(program, host, finish);
  addExport(program, host, finish);
  addDump(program, host, finish);
  addDerive(program, host);
  addBackup(program, host, finish);
  addRestore(program, host, finish);
  addDoctor(program, host, finish);
  addRenames(program, host, finish);
  addSessions(program, host, finish);
  addDemo(program, host);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    throw error;
  }
}
