/** By default V8 lets its heap grow a lot before it collects garbage. Batch commands need little memory; a server makes mostly short-lived objects. */
const BATCH = ["--max-old-space-size=192", "--max-semi-space-size=4"];
const SERVICE = ["--max-semi-space-size=8"];

const FLAGS: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ["import", BATCH],
  ["export", BATCH],
  ["dump", BATCH],
  ["derive", BATCH],
  ["backup", BATCH],
  ["restore", BATCH],
  ["doctor", BATCH],
  ["start", SERVICE],
  ["serve", SERVICE],
  ["work", SERVICE],
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
  // By default glibc gives threads many arenas, and each holds on to memory that was freed.
  const env = { MALLOC_ARENA_MAX: "2", ...process.env };
  process.execve?.(process.execPath, [process.execPath, ...flags, ...argv.slice(1)], env);
}

/** The flags for a child process with this command, which then does not start again. */
export function flagsOf(command: string): string[] {
  return [...(FLAGS.get(command) ?? [])];
}
