import { availableParallelism } from "node:os";

/**
 * By default V8 lets its heap grow to several times the memory in use before it collects all garbage. Batch commands need little memory; a
 * server makes mostly short-lived objects, and the longer it waits, the longer a full collection stops it.
 */
const BATCH = ["--max-old-space-size=192", "--max-semi-space-size=4"];
const SERVER = [
  // Large enough for the largest page: at half the size there were twice as many full collections.
  "--max-semi-space-size=8",
  "--heap-growing-percent=50",
  // Threads that collect garbage take the only core from the thread that responds, for a tenth of a second at a time.
  ...(availableParallelism() === 1 ? ["--single-threaded-gc"] : []),
];
const WORKER = ["--max-semi-space-size=8"];

const FLAGS: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ["import", BATCH],
  ["export", BATCH],
  ["dump", BATCH],
  ["derive", BATCH],
  ["backup", BATCH],
  ["restore", BATCH],
  ["check", BATCH],
  ["publish", BATCH],
  ["start", SERVER],
  ["serve", SERVER],
  ["work", WORKER],
]);

/**
 * Replaces this process by the same command with flags that keep its memory small, and does not return. Returns if the
 * command needs none, was started with Node.js flags, or runs on Windows, which cannot replace a process.
 */
export function restartWithFlags(argv: readonly string[]): void {
  const flags = FLAGS.get(argv[2]);
  if (flags === undefined || process.execArgv.length > 0 || process.platform === "win32") return;
  // The new program would lose the channel to its parent.
  if (process.send !== undefined) return;
  // By default glibc gives threads many arenas, each of which keeps freed memory, and once a large block was freed, it puts later
  // ones into arenas too.
  const env = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072", ...process.env };
  process.execve?.(process.execPath, [process.execPath, ...flags, ...argv.slice(1)], env);
}

/** The flags for a child process with this command, which then does not start again. */
export function flagsOf(command: string): string[] {
  return [...(FLAGS.get(command) ?? [])];
}
