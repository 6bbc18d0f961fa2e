/** The command line: what can be asked of the program, and how it answers people and machines. */
import { Command, CommanderError } from "commander";
import type { Config } from "../config.js";
import type { DemoSize } from "../demo/demo.js";
import type { Modules } from "../modules.js";
import { addDemo } from "./demo.js";
import { addExport } from "./export.js";
import { addImport } from "./import.js";
import { addServe } from "./serve.js";
import { addStatus } from "./status.js";
import { addTrack } from "./track.js";
import { addWork } from "./work.js";

/** What commands need of the rest of the program; `main.ts` gives it. */
export interface Host {
  config: Config;
  openModules(): Promise<Modules>;
  /** Serves until the process is asked to stop. */
  serve(modules: Modules): Promise<void>;
  /** Serves, and tracks the configured providers in a child process, until the process is asked to stop. */
  start(modules: Modules, withSample: boolean): Promise<void>;
  /** Tracks the configured providers until the process is asked to stop. */
  work(modules: Modules): Promise<void>;
  /** Tracks and refreshes single repositories at once. */
  openTracker(): Promise<{
    track(provider: string, fullName: string): Promise<{ repositoryId: number; isNew: boolean }>;
    refresh(provider: string, fullName: string): Promise<{ result: string; failed: boolean }>;
    close(): Promise<void>;
  }>;
  /** Serves a made-up catalogue from memory until the process is asked to stop. */
  serveDemo(size: DemoSize): Promise<void>;
}

/** Exit codes, as documented: all well; failed; wrongly called; done, but some lines were refused. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3 } as const;

/** Runs one command. Returns the exit code. */
export async function runProgram(host: Host, argv: readonly string[]): Promise<number> {
  const program = new Command("sidereal").description(
    "Tracks repositories across forges: snapshots, growth, search, and an API.",
  );
  program.exitOverride().showHelpAfterError("(sidereal --help lists the commands)");
  let code: number = EXIT.ok;
  const finish = (result: number) => {
    code = result;
  };
  addServe(program, host);
  addWork(program, host, finish);
  addTrack(program, host, finish);
  addStatus(program, host);
  addImport(program, host, finish);
  addExport(program, host, finish);
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
