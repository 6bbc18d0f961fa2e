/** With its defaults V8 lets memory grow long before it collects. Batch commands need little; a server keeps short-lived objects. */
const BATCH = ["--max-old-space-size=192", "--max-semi-space-size=4"];
const SERVICE = ["--max-semi-space-size=8"];

const FLAGS: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ["import", BATCH],
  ["export", BATCH],
  ["derive", BATCH],
  ["start", SERVICE],
  ["serve", SERVICE],
  ["work", SERVICE],
]);

/**
 * Starts the same command again in this process with flags that keep its memory small, and does not return. Returns if the
 * command needs none, has been started with flags of Node.js, or the system cannot replace a process (Windows).
 */
export function restartWithFlags(argv: readonly string[]): void {
  const flags = FLAGS.get(argv[2]);
  if (flags === undefined || process.execArgv.length > 0 || process.platform === "win32") return;
  // An open channel to a parent would be lost.
  if (process.send !== undefined) return;
  // With more than two arenas, the C library's allocator keeps much memory that was freed by other threads.
  const env = { MALLOC_ARENA_MAX: "2", ...process.env };
  process.execve?.(process.execPath, [process.execPath, ...flags, ...argv.slice(1)], env);
}

/** The flags for a child process with this command, which then does not start again. */
export function flagsOf(command: string): string[] {
  return [...(FLAGS.get(command) ?? [])];
}
