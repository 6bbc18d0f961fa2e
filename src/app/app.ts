/** Environment → configuration → command; signals. Serving and tracking are loaded by the commands that need them. */
import { fork, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { EXIT, failureOf, type Host, runProgram } from "../cli/cli.js";
import { ConfigError, loadConfig, readEnvironment } from "../config/config.js";
import { hasStore } from "../database/database.js";
import { systemClock } from "../lib/clock.js";
import { createLog } from "../lib/log.js";
import { flagsOf } from "../lib/node-flags.js";
import { hasTerminal, stopSignal } from "../lib/stop-signal.js";
import { userFolder } from "../lib/user-folder.js";
import { type AppContext, type Modules, openModules } from "../modules.js";
import type { Service } from "./service.js";

async function main(argv: readonly string[]): Promise<number> {
  let loaded: AppContext | undefined;
  const context = (): AppContext => {
    loaded ??= loadContext();
    return loaded;
  };
  const host: Host = {
    get config() {
      return context().config;
    },
    clock: systemClock,
    cacheFolder: userFolder("cache", process.env),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    openModules: (options) => openModules(context(), options),
    serve: () => exitAfter(serve(context()), context(), context().config.drainMs),
    start: (withSample) => exitAfter(start(context(), withSample), context(), context().config.drainMs),
    work: () => exitAfter(work(context()), context()),
    workOnce: () => exitAfter(work(context(), { once: true }), context()),
    explain: async (limit) => (await import("./tracker.js")).explainWork(context(), limit),
    mcp: (url) => serveMcp(context(), url),
    openPass: async () => (await import("./pass.js")).openPass(context()),
    openTracker: async () => (await import("./tracker.js")).openTracker(context()),
  };
  return runProgram(host, argv).catch((error: unknown) => report(error, loaded));
}

/** Prints why a command has failed. Returns its exit code. */
function report(error: unknown, context: AppContext | undefined): number {
  const isConfig = error instanceof ConfigError;
  const sentence = isConfig ? error.message : context && failureOf(error, context.config)?.sentence;
  if (sentence !== undefined) context?.log.debug({ err: error }, "the command has failed");
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${sentence ?? stack}\n`);
  return isConfig ? EXIT.usage : EXIT.failed;
}

/** npm installs programs below a folder of this name, in which nobody looks for data; `npx` is run in any folder. */
const IS_INSTALLED = import.meta.url.includes("/node_modules/");

function loadContext(): AppContext {
  const homeFolder = IS_INSTALLED ? userFolder("data", process.env) : undefined;
  const config = loadConfig(readEnvironment(process.cwd(), process.env, homeFolder));
  return { config, clock: systemClock, log: createLog(config.logLevel) };
}

/** How long open handles, such as a hanging mail server, may keep the process alive after the service has stopped. */
const EXIT_MS = 300;
/** Time after the signal to stop at which the process ends, whatever it is doing. */
const LATEST_MS = 9_800;

/** `drainMs`: how long the service keeps responding after the signal. */
function exitAfter(running: Promise<void>, { log }: AppContext, drainMs = 0): Promise<void> {
  if (!hasTerminal)
    process.on("SIGHUP", () => log.warn("SIGHUP is ignored; to apply other settings, restart the service"));
  const exitIn = (ms: number) => setTimeout(() => process.exit(), ms).unref();
  void stopSignal().then(() => exitIn(LATEST_MS + drainMs));
  return running.finally(() => exitIn(EXIT_MS));
}

/** Waits for a step before anybody is served. Undefined if the signal to stop comes first: the next start completes it. */
async function unlessStopped<T>(step: Promise<T>): Promise<{ value: T } | undefined> {
  return Promise.race([step.then((value) => ({ value })), stopSignal().then(() => undefined)]);
}

/** First and longest wait before the database is tried again. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

/** Opens the modules once the database can be reached: it may start later than this machine does. A signal to stop ends the process. */
async function openWaiting(context: AppContext, options: typeof UPGRADING): Promise<Modules> {
  const { config, log } = context;
  let logged: string | undefined;
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
    try {
      const modules = await openModules(context, options);
      if (logged !== undefined) log.info("the database can be reached");
      return modules;
    } catch (error) {
      const failure = failureOf(error, config);
      if (failure?.mayPass !== true) throw error;
      if (failure.sentence !== logged) log.warn(`waiting for the database: ${failure.sentence}`);
      logged = failure.sentence;
    }
    if ((await unlessStopped(systemClock.sleep(waitMs))) === undefined) process.exit(EXIT.ok);
  }
}

/** Only commands that run the service migrate: one such as `status` must not stop an older service that uses the store. */
const UPGRADING = { upgrades: true } as const;

async function work(context: AppContext, { once: isOnce = false } = {}): Promise<void> {
  const { log, config } = context;
  const opened = await unlessStopped((isOnce ? openModules : openWaiting)(context, UPGRADING));
  if (opened !== undefined) {
    const { startWorker } = await import("./tracker.js");
    const stopping = new AbortController();
    const dump = config.dumps === undefined ? undefined : () => writeDump(context, stopping.signal);
    const worker = await startWorker(context, opened.value, { isOnce, dump });
    await Promise.race([stopSignal(), worker.done]);
    log.info("the worker is stopping");
    stopping.abort();
    // Updates can stop at any step: the next worker continues from there.
    setTimeout(() => process.exit(EXIT.ok), WORKER_STOP_MS).unref();
    await worker.stop();
  }
  // An open channel would keep this process alive, and its parent waiting.
  if (process.connected) process.disconnect();
}

/** Writes a dump in a child process if one is due: that takes minutes, and memory that the worker does not need otherwise. */
async function writeDump({ config: { dumps }, clock, log }: AppContext, signal: AbortSignal): Promise<void> {
  const { isDumpDue } = await import("../transfer/transfer.js");
  if (dumps === undefined || !(await isDumpDue(dumps.folder, { ...dumps, now: clock.now() }))) return;
  const began = clock.monotonic();
  const code = await runCommand("dump", signal, ["ignore", "ignore", "inherit", "ipc"]);
  if (signal.aborted) return;
  if (code === 0) log.info({ ms: Math.round(clock.monotonic() - began) }, "wrote a dump");
  else log.error({ code }, "no dump was written; retrying in an hour");
}

/** Time for a worker to finish its current work, and the time after which a child process is killed. */
const WORKER_STOP_MS = 8_000;
const CHILD_KILL_MS = 9_500;

/** Delay before a worker that exited unexpectedly is restarted. */
const WORKER_RESTART_MS = 10_000;

/** Serves here and tracks in a child process, so that heavy writes do not delay responses. */
async function start(context: AppContext, withSample: boolean): Promise<void> {
  const { log } = context;
  const opened = await unlessStopped(openToStart(context, withSample));
  if (opened === undefined) return;
  const modules = opened.value;
  const stopping = new AbortController();
  // Immediately, as a terminal sends the signal to the worker too.
  stopSignal().then(() => stopping.abort());
  const { databaseUrl, dataDir } = context.config;
  // Nobody else could read a database in memory.
  const isAlone = databaseUrl === undefined && dataDir === ":memory:";
  let working: Promise<void> | undefined;
  try {
    // Only then, as both would load at the same time, and without the service no worker must run.
    await serveModules(context, modules, (service) => {
      void printOperatorUrl(service, log);
      if (!isAlone) working = keepWorking(log, stopping.signal);
    });
  } finally {
    stopping.abort();
    await working;
  }
}

async function printOperatorUrl(service: Service, log: AppContext["log"]): Promise<void> {
  try {
    const url = await service.operatorUrl();
    if (url !== undefined)
      process.stdout.write(`Open ${url} to begin: it works once, on this machine, within an hour.\n`);
  } catch (error) {
    log.warn(
      { err: error },
      "the address for the operator could not be stored; sidereal operator-key prints one",
    );
  }
}

/** Opens the modules, and imports the sample unless a forge is walked: then it is removed. */
async function openToStart(context: AppContext, mayHaveSample: boolean): Promise<Modules> {
  const modules = await openWaiting(context, UPGRADING);
  const { sample, providers } = context.config;
  if (providers.length === 0 && mayHaveSample && sample)
    await (await import("./sample.js")).importSample(modules);
  else await modules.catalog.removeSample();
  return modules;
}

async function keepWorking(log: AppContext["log"], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const code = await runCommand("work", signal, "inherit");
    if (signal.aborted) return;
    log.error({ code }, "the worker exited unexpectedly; restarting it");
    await systemClock.sleep(WORKER_RESTART_MS, signal);
  }
}

/** Runs a command in a child process until it ends, or stops it at the signal. Returns its exit code; null without one. */
async function runCommand(command: string, signal: AbortSignal, stdio: StdioOptions): Promise<number | null> {
  const entry = process.argv[1];
  if (entry === undefined || signal.aborted) return null;
  const child = fork(entry, [command], { stdio, execArgv: flagsOf(command) });
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill("SIGTERM");
    killing = setTimeout(() => child.kill("SIGKILL"), CHILD_KILL_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  const [code] = await once(child, "exit");
  clearTimeout(killing);
  signal.removeEventListener("abort", stop);
  return code;
}

/** Serves tools on standard input and output. Returns why it cannot. */
async function serveMcp(
  { config, clock, log }: AppContext,
  url: string | undefined,
): Promise<string | undefined> {
  const { proxyStreams, remoteProblem, serveStdio } = await import("../mcp/mcp.js");
  const streams = { input: process.stdin, output: process.stdout };
  const stopping = new AbortController();
  void stopSignal().then(() => stopping.abort());
  if (url !== undefined) {
    const remote = { url, apiKey: config.apiKey };
    const problem = remoteProblem(remote);
    if (problem !== undefined) return `--url: ${problem}`;
    await proxyStreams(streams, remote, stopping.signal);
    return undefined;
  }
  const { databaseUrl, dataDir } = config;
  // Hosts start it in any folder, and a new store there would only be empty.
  if (databaseUrl === undefined && !hasStore(dataDir))
    return `there is no store in ${resolve(dataDir)}; set SIDEREAL_DATA_DIR, or use --url`;
  const modules = await openModules({ config, clock, log });
  const onFault = (err: unknown) => log.error({ err }, "a tool or a message failed");
  try {
    await serveStdio(streams, { services: { modules, config, clock }, onFault }, stopping.signal);
  } finally {
    await modules.database.close();
  }
  return undefined;
}

async function serve(context: AppContext): Promise<void> {
  const opened = await unlessStopped(openWaiting(context, UPGRADING));
  if (opened !== undefined) await serveModules(context, opened.value);
}

/** Time for a service to finish opening after the signal to stop: its port may be open, and have requests. */
const OPEN_MS = 4_000;

/** Serves until the signal to stop. `onOpen` is called once the port is open. */
async function serveModules(
  context: AppContext,
  modules: Modules,
  onOpen: (service: Service) => void = () => {},
): Promise<void> {
  const { log } = context;
  const { startService } = await import("./service.js");
  const opening = startService(context, modules);
  const overdue = stopSignal().then(
    () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), OPEN_MS).unref()),
  );
  let isStopping = false;
  void stopSignal().then(() => {
    isStopping = true;
  });
  const service = await Promise.race([opening, overdue]);
  if (service === undefined) return log.warn("stopping before the service has started");
  if (!isStopping) {
    process.stdout.write(`Sidereal listens at ${service.url}\n`);
    onOpen(service);
  }
  log.info({ reason: await stopSignal() }, "stopping");
  await service.stop();
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
