/** Environment → configuration → command; signals. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AppContext, openDemo, openModules, startService } from "./app.js";
import { EXIT, type Host, runProgram } from "./cli/program.js";
import { systemClock } from "./clock.js";
import { ConfigError, loadConfig, readEnvironment } from "./config.js";
import { createLog } from "./log.js";
import type { Modules } from "./modules.js";

/** Long work runs with a small heap: left alone, V8 would rather grow than collect. */
const BATCH_COMMANDS = new Set(["import", "export"]);
const BATCH_HEAP = ["--max-old-space-size=192", "--max-semi-space-size=4"];

async function main(argv: readonly string[]): Promise<number> {
  if (BATCH_COMMANDS.has(argv[0] ?? "") && process.execArgv.length === 0) {
    return runAgain(BATCH_HEAP);
  }
  const config = loadConfig(readEnvironment(process.cwd(), process.env));
  const context: AppContext = { config, clock: systemClock, log: createLog(config.logLevel) };
  const host: Host = {
    config,
    openModules: () => openModules(context),
    openDemo: (repositories, days, seed) => openDemo(context, repositories, days, seed),
    serve: (modules, withDemo) => serve(context, modules, withDemo),
  };
  return runProgram(host, argv);
}

/** Runs the same command in a process with other flags, and ends as it does. */
async function runAgain(flags: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : EXIT.failed;
}

async function serve(context: AppContext, modules: Modules, withDemo: boolean): Promise<void> {
  const service = await startService(context, modules, withDemo);
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  const { log } = context;
  process.stdout.write(`Sidereal answers at ${service.url}\n`);
  if (service.synthetic) {
    process.stdout.write(
      "The repositories shown are made up, held in memory. Bring real ones: npm run -s sidereal -- import <files>, see README.md.\n",
    );
  }
  log.info({ signal: await stopped }, "stopping");
  await service.stop();
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isPlain =
      error instanceof ConfigError ||
      (error instanceof Error && "code" in error && error.code === "EADDRINUSE");
    process.stderr.write(
      `${error instanceof Error ? (isPlain ? error.message : (error.stack ?? error.message)) : String(error)}\n`,
    );
    process.exitCode = error instanceof ConfigError ? EXIT.usage : EXIT.failed;
  },
);
