/** Environment → configuration → command; signals. */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { type AppContext, openDemo, openModules, startService } from "./app.js";
import { EXIT, type Host, runProgram } from "./cli/program.js";
import { systemClock } from "./clock.js";
import { ConfigError, loadConfig, readEnvironment } from "./config.js";
import type { DemoSize } from "./demo/demo.js";
import { createLog } from "./log.js";
import type { Modules } from "./modules.js";
import { startThreads, type Threads } from "./threads/threads.js";
import { openTracker, startWorker } from "./tracker.js";

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
    serveDemo: (size) => leaveAfter(serveDemo(context, size)),
    serve: (modules) => leaveAfter(serve(context, modules)),
    start: (modules) => leaveAfter(start(context, modules)),
    work: (modules) => work(context, modules),
    openTracker: () => openTracker(context),
  };
  return runProgram(host, argv);
}

/** How long what is still open, such as a mail server that hangs, may keep a service that has stopped. */
const LEAVE_MS = 1_000;

function leaveAfter(serving: Promise<void>): Promise<void> {
  return serving.finally(() => setTimeout(() => process.exit(), LEAVE_MS).unref());
}

/** Runs the same command in a process with other flags, and ends as it does. */
async function runAgain(flags: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : EXIT.failed;
}

/** The signal that asks to stop. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
}

async function work(context: AppContext, modules: Modules): Promise<void> {
  // Listened for from the beginning: what has been taken is given back however early it is asked to stop.
  const asked = stopSignal();
  const worker = await startWorker(context, modules);
  const { log, config } = context;
  log.info({ providers: config.providers.map(({ name }) => name) }, "tracking");
  // Started by `start`: it ends when that process does, however it ends.
  const orphaned = process.send === undefined ? [] : [once(process, "disconnect")];
  // It may have ended while this one began.
  const isOrphan = process.send !== undefined && !process.connected;
  if (!isOrphan) await Promise.race([asked, ...orphaned]);
  log.info("the worker is stopping");
  // What is derived can be left at any step: whoever comes next goes on from there.
  setTimeout(() => process.exit(EXIT.ok), WORKER_STOP_MS).unref();
  await worker.stop();
  // The channel would keep this process, and so the one that waits for it.
  if (process.connected) process.disconnect();
}

/** Time that a worker gets to end what is under way, and after which its parent ends it. */
const WORKER_STOP_MS = 8_000;
const WORKER_KILL_MS = 9_500;

/** How long to wait before a worker that has ended by itself is started again. */
const WORKER_REST_MS = 10_000;

/** Serves here, and works in a process of its own, since heavy writes must not hold up answers. */
async function start(context: AppContext, modules: Modules): Promise<void> {
  const { config, log } = context;
  if (config.providers.length === 0) return serve(context, modules);
  const stopping = new AbortController();
  // At the signal itself, as a terminal sends it to the worker too.
  stopSignal().then(() => stopping.abort());
  const working = keepWorking(log, stopping.signal);
  try {
    await serve(context, modules);
  } finally {
    // Also where the port is taken: without the service there is no worker.
    stopping.abort();
    await working;
  }
}

async function keepWorking(log: AppContext["log"], signal: AbortSignal): Promise<void> {
  const entry = process.argv[1];
  if (entry === undefined) return;
  while (!signal.aborted) {
    const child = fork(entry, ["work"], { stdio: "inherit" });
    let killing: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill("SIGTERM");
      killing = setTimeout(() => child.kill("SIGKILL"), WORKER_KILL_MS);
    };
    signal.addEventListener("abort", stop, { once: true });
    const [code] = await once(child, "exit");
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
    if (signal.aborted) return;
    log.error({ code }, "the worker has ended by itself; it is started again");
    await systemClock.sleep(WORKER_REST_MS, signal);
  }
}

/** Serves a made-up catalogue from memory; nothing is stored, accounts included. */
async function serveDemo(context: AppContext, size: DemoSize): Promise<void> {
  const inMemory = { dataDir: ":memory:", databaseUrl: undefined, httpThreads: 1 };
  const own = { ...context, config: { ...context.config, ...inMemory } };
  await serve(own, await openDemo(own, size));
}

async function serve(context: AppContext, modules: Modules): Promise<void> {
  const { log, config } = context;
  const service =
    config.httpThreads === 1 ? await startService(context, modules) : await serveInThreads(context, modules);
  const stopped = stopSignal();
  process.stdout.write(`Sidereal answers at ${service.url}\n`);
  const failed = "failed" in service ? service.failed : new Promise<never>(() => {});
  const reason = await Promise.race([stopped, failed]);
  if (reason instanceof Error) log.fatal({ err: reason }, "stopping");
  else log.info({ signal: reason }, "stopping");
  await service.stop();
  if (reason instanceof Error) throw reason;
}

/** The modules were opened to migrate the database, once; the threads open their own. */
async function serveInThreads(context: AppContext, modules: Modules): Promise<Threads> {
  await modules.database.close();
  return startThreads(context);
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
