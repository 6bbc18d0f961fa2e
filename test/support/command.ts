import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Host } from "../../src/cli/host.js";
import { loadConfig } from "../../src/config/config.js";
import { type Clock, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { temporaryFolder } from "./imports.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));

/** How a command ended. `code` is null if a signal ended it. */
export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  process: ChildProcess;
  ended: Promise<Ran>;
}

/** The program in a folder of its own, with a data folder in it and no settings but the given ones. */
export class CommandWorld {
  readonly folder = temporaryFolder();

  /** A new, empty data folder. */
  newDataDir(): string {
    return mkdtempSync(join(this.folder, "data-"));
  }

  /** Starts a command. */
  start(dataDir: string, args: readonly string[], settings: Record<string, string> = {}): Running {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SIDEREAL_"));
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env: {
        ...Object.fromEntries(inherited),
        SIDEREAL_DATA_DIR: dataDir,
        SIDEREAL_LOG_LEVEL: "error",
        XDG_CACHE_HOME: this.newDataDir(),
        ...settings,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => {});
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    return { process: child, ended };
  }

  /** Runs a command to its end in this process, which saves loading the program. It must be one that ends by itself. */
  async runHere(
    dataDir: string,
    args: readonly string[],
    settings: Record<string, string> = {},
    clock: Clock = systemClock,
  ): Promise<Omit<Ran, "signal">> {
    const { runProgram } = await import("../../src/cli/cli.js");
    const { openPass } = await import("../../src/app/pass.js");
    const { openModules } = await import("../../src/modules.js");
    const { XDG_CACHE_HOME: cacheFolder = this.newDataDir(), ...own } = settings;
    const config = loadConfig({ SIDEREAL_DATA_DIR: dataDir, ...own });
    const [stdout, stderr] = [new Written(), new Written()];
    const context = { config, clock, log: createLog("error") };
    const code = await runProgram(
      {
        ...unusedHost(),
        config,
        cacheFolder,
        stdout,
        stderr,
        clock,
        openModules: (options) => openModules(context, options),
        openPass: () => openPass(context),
      },
      args,
    );
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  /** Runs a command to its end in a process of its own, with a text on standard input. */
  run(
    dataDir: string,
    args: readonly string[],
    { settings = {}, input = "" }: { settings?: Record<string, string>; input?: string } = {},
  ): Promise<Ran> {
    const running = this.start(dataDir, args, settings);
    running.process.stdin?.end(input);
    return running.ended;
  }
}

/** A host for commands that are looked at or end by themselves: it can do nothing. */
export function unusedHost(): Host {
  const endless = () => Promise.reject(new Error("this command does not end by itself"));
  return {
    config: loadConfig({}),
    clock: systemClock,
    cacheFolder: "",
    stdin: Readable.from([]),
    stdout: new Written(),
    stderr: new Written(),
    openModules: endless,
    serve: endless,
    start: endless,
    work: endless,
    workOnce: endless,
    mcp: endless,
    explain: endless,
    openTracker: endless,
    openPass: endless,
  };
}

/** Collects what is written. */
class Written extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}
