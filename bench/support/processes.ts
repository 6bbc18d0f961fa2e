/** Child processes of the benchmark, each pinned to one core where the system can do it, with their CPU time and memory. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { setImmediate, setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "./stores.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));

/** Whether processes can be pinned: Linux, `taskset`, and at least two cores. */
export const CAN_PIN =
  process.platform === "linux" &&
  availableParallelism() >= 2 &&
  spawnSync("taskset", ["-c", "0", "true"]).status === 0;

/** The core of the server that is measured, and the core of what sends requests to it. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export interface PinnedOptions {
  /** The core to run on; undefined: any. */
  core: number | undefined;
  /** Settings of Sidereal are not inherited; these are added. */
  env?: Readonly<Record<string, string>>;
  stdin?: "ignore" | "pipe";
  /** Where its errors and its log go. Default: to the terminal. */
  stderr?: "inherit" | "pipe";
}

/** Starts a program on one core. Its standard output is a pipe. */
export function spawnPinned(command: string, args: readonly string[], options: PinnedOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SIDEREAL_"));
  const isPinned = CAN_PIN && options.core !== undefined;
  const [program, ...rest] = isPinned
    ? ["taskset", "-c", String(options.core), command, ...args]
    : [command, ...args];
  const child = spawn(program ?? command, rest, {
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: [options.stdin ?? "ignore", "pipe", options.stderr ?? "inherit"],
  });
  watch(child);
  return child;
}

/** Children end with this process, also when it is interrupted. */
const running = new Set<ChildProcess>();
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const exit = () => process.exit(1);
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});

function watch(child: ChildProcess): void {
  if (running.size === 0) for (const signal of SIGNALS) process.once(signal, exit);
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    if (running.size === 0) for (const signal of SIGNALS) process.off(signal, exit);
  });
}

/** Ends a child and waits for it. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** Resolves with the first group of the first line of a pipe that matches. Rejects if the child ends before. */
export function waitForLine(
  child: ChildProcess,
  pattern: RegExp,
  from: "stdout" | "stderr" = "stdout",
): Promise<string> {
  const pipe = child[from];
  if (pipe === null) throw new Error(`the child has no pipe for ${from}`);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the process ended with ${code} before it was ready`)));
    createInterface(pipe).on("line", (line) => {
      const found = pattern.exec(line);
      if (found !== null) resolve(found[1] ?? "");
    });
  });
}

/** A server that is measured. */
export interface MeasuredServer {
  /** Its address, without a trailing slash. */
  url: string;
  pid: number;
  /** CPU time of the process and its children so far, in seconds; undefined where the system does not tell. */
  cpuSeconds(): number | undefined;
  /** CPU time of their threads so far, in ms, without up to 4 ms of those that run. Threads that have ended are not in it. */
  threadCpuMs(): number | undefined;
  /** The same as soon as no thread runs, or after a fifth of a second: with what the process does after its response. */
  restingCpuMs(): Promise<number | undefined>;
  /** The same of their main threads alone, which serve the requests. */
  mainThreadCpuMs(): number | undefined;
  /** Resident memory of the process and its children, in bytes; undefined where the system does not tell. */
  residentBytes(): number | undefined;
  stop(): Promise<void>;
}

/** A server in a child process that has printed its address. */
export function measuredServer(child: ChildProcess, url: string): MeasuredServer {
  const { pid } = child;
  if (pid === undefined) throw new Error("the process did not start");
  return {
    url,
    pid,
    cpuSeconds: () => sumOfTree(pid, cpuSecondsOf),
    threadCpuMs: () => sumOfTree(pid, threadCpuMsOf),
    restingCpuMs: async () => {
      if (process.platform !== "linux") return undefined;
      await untilResting(pid);
      return sumOfTree(pid, threadCpuMsOf);
    },
    mainThreadCpuMs: () => sumOfTree(pid, mainThreadCpuMsOf),
    residentBytes: () => sumOfTree(pid, residentBytesOf),
    stop: () => endChild(child),
  };
}

/** Starts `sidereal serve` on a store, at a free port of this machine, on the server's core; resolves when its lists are complete. */
export async function startSidereal(
  store: Pick<Store, "url" | "dataDir">,
  settings: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer> {
  const child = spawnSidereal(store, settings, { isPinned: true });
  const url = await waitForLine(child, /listens at (\S+)/);
  while ((await fetch(`${url}/api/repos?limit=1`)).status === 503) await setTimeout(POLL_MS);
  return measuredServer(child, url);
}

/** How long to wait until a server that loads the catalogue is asked again. */
const POLL_MS = 20;

/** The same, without waiting. */
export function spawnSidereal(
  { url, dataDir }: Pick<Store, "url" | "dataDir">,
  settings: Readonly<Record<string, string>>,
  { isPinned, stderr }: { isPinned: boolean; stderr?: "pipe" },
): ChildProcess {
  const env = {
    SIDEREAL_PORT: "0",
    SIDEREAL_DATA_DIR: dataDir,
    SIDEREAL_LOG_LEVEL: "error",
    ...(url === undefined ? {} : { SIDEREAL_DATABASE_URL: url }),
    ...settings,
  };
  return spawnPinned(process.execPath, [MAIN, "serve"], {
    core: isPinned ? SERVER_CORE : undefined,
    env,
    ...(stderr === undefined ? {} : { stderr }),
  });
}

/** Starts a script that prints `listens at <address>`, such as a bare server, on the server's core. `flags`: of Node.js. */
export async function startScript(
  script: URL,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<MeasuredServer> {
  const command = [...flags, fileURLToPath(script), ...args];
  const child = spawnPinned(process.execPath, command, { core: SERVER_CORE });
  return measuredServer(child, await waitForLine(child, /listens at (\S+)/));
}

const TICKS_PER_SECOND = 100;

/** The process and all its descendants. */
export function treeOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = Number(statOf(Number(entry))?.[1]);
    parents.set(parent, [...(parents.get(parent) ?? []), Number(entry)]);
  }
  const descend = (one: number): number[] => [one, ...(parents.get(one) ?? []).flatMap(descend)];
  return descend(pid);
}

/** The fields of /proc/<pid>/stat after the name, or those of a thread; undefined if it has ended. */
function statOf(pid: number | string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return undefined;
  }
}

function sumOfTree(pid: number, of: (pid: number) => number): number | undefined {
  if (process.platform !== "linux") return undefined;
  return treeOf(pid).reduce((sum, one) => sum + of(one), 0);
}

/** How long to wait at most for a process to rest, in ms. */
const MOST_WAIT_MS = 200;

/** Resolves when no thread of the process runs: the system counts the time of a thread when it stops running, and until then in ticks. */
async function untilResting(pid: number): Promise<void> {
  const threads = treeOf(pid).flatMap(tasksOf);
  const end = performance.now() + MOST_WAIT_MS;
  while (threads.some((thread) => statOf(thread)?.[0] === "R") && performance.now() < end)
    await setImmediate();
}

/** Paths of the threads of a process below /proc; none if it has ended. */
function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => `${pid}/task/${task}`);
  } catch {
    return [];
  }
}

function cpuSecondsOf(pid: number): number {
  const fields = statOf(pid) ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

function threadCpuMsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + cpuMsOfTask(pid, task), 0);
}

function mainThreadCpuMsOf(pid: number): number {
  return cpuMsOfTask(pid, String(pid));
}

/** 0 for a thread that has ended since it was listed. */
function cpuMsOfTask(pid: number, task: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}

function residentBytesOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
