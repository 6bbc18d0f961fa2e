import { spawn } from "node:child_process";
import { once } from "node:events";

/** Batch commands run with a small heap: by default V8 grows the heap before it collects. */
const BATCH_COMMANDS = new Set(["import", "export"]);
const BATCH_HEAP = ["--max-old-space-size=192", "--max-semi-space-size=4"];

/** Whether this is a batch command that has been started without Node.js flags. */
export function needsBatchHeap(argv: readonly string[]): boolean {
  return BATCH_COMMANDS.has(argv[0] ?? "") && process.execArgv.length === 0;
}

/** Runs the same command in a child process with a small heap. Returns its exit code, 1 if a signal ended it. */
export async function runWithBatchHeap(): Promise<number> {
  const child = spawn(process.execPath, [...BATCH_HEAP, ...process.argv.slice(1)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
}
