/** Stops a command that otherwise runs forever: by a signal, or at the end of its parent. */
import { once } from "node:events";
import { isatty } from "node:tty";
import { parentEnd } from "./parent-process.js";

/** The commands that run until then. They exit with 0 after it, whatever they were doing. */
const SERVICES: ReadonlySet<string | undefined> = new Set(["start", "serve", "work"]);

/** Whether this process has a terminal, whose end SIGHUP announces. Without one, SIGHUP tells services to reload. */
export const hasTerminal = [0, 1, 2].some((file) => isatty(file));

let stopped: Promise<string> | undefined;

/**
 * Resolves with the reason to stop: the first SIGINT or SIGTERM from the first call on, which no longer ends the process by itself, but a
 * second one of the same kind does; or SIGHUP of a terminal.
 */
export function stopSignal(): Promise<string> {
  stopped ??= new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
    // Not once: the terminal and the shell both send it.
    process.on("SIGHUP", (signal) => {
      if (hasTerminal) resolve(signal);
    });
  });
  return stopped;
}

/**
 * Listens for the signal if the command is one that runs until then: also while the program is still being loaded. Such a command also
 * stops when its parent ends, if that holds a channel to it, as `start` to its worker, or as `parentEnd` says.
 */
export function listenForStop(command: string | undefined, env: NodeJS.ProcessEnv): void {
  if (!SERVICES.has(command)) return;
  const end = process.send === undefined ? parentEnd(env) : once(process, "disconnect");
  const signal = stopSignal();
  if (end !== undefined) stopped = Promise.race([signal, end.then(() => "the parent process has ended")]);
}
