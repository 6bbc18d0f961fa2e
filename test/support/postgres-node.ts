/** One PostgreSQL server on this machine: its account, its files, how it is started and ended. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { accessSync, chmodSync, chownSync, constants, mkdirSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports.js";

/** Another program may take the free port before the server does. */
const PORT_ATTEMPTS = 5;
const ADDRESS_IN_USE = /address already in use/i;

/** What the databases of two test files take together, several times over. */
const ROOM_BYTES = 2 * 2 ** 30;

/** Accounts to run as when the tests run as root, which PostgreSQL refuses to. */
const UNPRIVILEGED_USERS = ["postgres", "nobody"];

export interface Identity {
  name: string;
  uid: number;
  gid: number;
}

/** Undefined: the tests do not run as root, and the server runs as the same user. */
export function unprivilegedUser(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of UNPRIVILEGED_USERS) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number.parseInt(run("id", [flag, name]).stdout, 10));
    if (uid && gid) return { name, uid, gid };
  }
  throw new Error(
    `PostgreSQL cannot run as root, and this system has no user ${UNPRIVILEGED_USERS.join(" or ")}. Add one, or run the tests as another user than root.`,
  );
}

export function run(command: string, args: readonly string[], identity: { uid?: number; gid?: number } = {}) {
  return spawnSync(command, args, { encoding: "utf8", cwd: "/", ...identity });
}

/** As whom a process runs. */
export const ids = (identity: Identity | undefined): { uid?: number; gid?: number } =>
  identity === undefined ? {} : { uid: identity.uid, gid: identity.gid };

/** Where a server is, and who runs it. */
export interface NodePlace {
  /** The folder with `bin`. */
  programs: string;
  data: string;
  identity: Identity | undefined;
}

/** Creates the files of a server. */
export function initialise({ programs, data, identity }: NodePlace): void {
  mkdirSync(data, { mode: 0o700 });
  if (identity !== undefined) chownSync(data, identity.uid, identity.gid);
  const { status, error, stderr } = run(
    join(programs, "bin", "initdb"),
    ["-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"],
    ids(identity),
  );
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr.trim()}`);
}

/** Settings of a server whose files are thrown away. */
export const UNSAFE_WRITES = { fsync: "off", full_page_writes: "off" } as const;

/** Resolves when the server accepts connections; rejects with its log if it ends before. */
export async function launch(
  { programs, data, identity }: NodePlace,
  port: number,
  settings: Readonly<Record<string, string | number>>,
): Promise<ChildProcess> {
  const all = {
    listen_addresses: "127.0.0.1,127.0.0.2",
    unix_socket_directories: "",
    max_connections: 300,
    // Statistics change only where a test or the program says so.
    autovacuum: "off",
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
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
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve();
    });
  });
  server.stderr.removeAllListeners("data").resume();
  return server;
}

/** The same, on a free port. */
export async function launchOnFreePort(
  place: NodePlace,
  settings: Readonly<Record<string, string | number>>,
): Promise<{ port: number; server: ChildProcess }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { port, server: await launch(place, port, settings) };
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !ADDRESS_IN_USE.test(String(error))) throw error;
    }
  }
}

/** Copying and dropping databases is several times faster in memory, where there is room for them. */
export function dataParent(): string {
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

/** A new folder that every user can enter. */
export function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, "sidereal-postgres-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** The files are thrown away, so nothing needs to be written before it ends. */
export async function stop(server: ChildProcess | undefined): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  await ended;
}
