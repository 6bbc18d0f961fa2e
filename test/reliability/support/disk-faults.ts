/** Ways in which a disk fails: for one process from outside, or at a certain system call. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statfsSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A disk that can be full. */
export interface FullDisk {
  name: string;
  fill(): void;
  free(): void;
}

/** Lets no file of a process grow beyond the size of its write-ahead log. Needs `prlimit`. */
export function limitedFiles(pid: number, dataDir: string): FullDisk {
  const limit = (bytes: string) =>
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  return {
    name: "no file may grow",
    fill: () => void limit(String(statSync(join(dataDir, "sidereal.db-wal")).size)),
    free: () => void limit("unlimited"),
  };
}

export const hasProgram = (name: string): boolean => spawnSync(name, ["--version"]).status === 0;

/** Whether this user may mount file systems here. */
export function mayMount(folder: string): boolean {
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).status === 0;
  if (isMounted) unmount(folder);
  return isMounted;
}

/** A file system of its own in a folder, to be filled by a file. */
export function mountSmall(folder: string, megabytes: number): FullDisk {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  const ballast = join(folder, "ballast");
  return {
    name: `a disk of ${megabytes} MB is full`,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    free: () => unlinkSync(ballast),
  };
}

export function unmount(folder: string): void {
  // Lazily, as a process that has just ended may still hold a file.
  execFileSync("umount", ["--lazy", folder]);
}

export const CALLS = ["pwrite64", "fsync", "ftruncate", "openat"] as const;
export type Call = (typeof CALLS)[number];

/** An error of system calls on the files of a store. */
export interface CallFault {
  call: Call;
  error: "EIO" | "ENOSPC";
  /** The first call of its kind that fails; from 1. */
  first: number;
  /** Calls that fail. */
  length: number;
}

const FILES = ["sidereal.db", "sidereal.db-wal", "sidereal.db-shm"];

/** What runs a program so that calls on the files of a store fail, or are only listed in `log`. It keeps its process id. */
export function tracing(dataDir: string, log: string, fault?: CallFault): string[] {
  const traced = fault === undefined ? CALLS.join() : fault.call;
  const last = fault === undefined ? 0 : fault.first + fault.length - 1;
  return [
    "strace",
    "-D",
    "-f",
    "-qq",
    ...["-o", log],
    ...FILES.flatMap((file) => ["-P", join(dataDir, file)]),
    ...["-e", `trace=${traced}`],
    ...(fault === undefined
      ? []
      : ["-e", `inject=${fault.call}:error=${fault.error}:when=${fault.first}..${last}`]),
  ];
}

/** Calls that failed, by the log of a process. */
export function countInjected(log: string): number {
  return readFileSync(log, "utf8").split("(INJECTED)").length - 1;
}

/** Calls of each kind of the thread that made most of them. */
export function countCalls(log: string): Record<Call, number> {
  const counts = { pwrite64: 0, fsync: 0, ftruncate: 0, openat: 0 };
  for (const call of CALLS) {
    const byThread = new Map<string, number>();
    for (const [, thread = "", name] of readFileSync(log, "utf8").matchAll(/^(\d+) +(\w+)\(/gm))
      if (name === call) byThread.set(thread, (byThread.get(thread) ?? 0) + 1);
    counts[call] = Math.max(0, ...byThread.values());
  }
  return counts;
}
