/** The signal that stops a command which otherwise runs forever. */

/** The commands that run until then. They exit with 0 after the signal, whatever they were doing. */
const SERVICES: ReadonlySet<string | undefined> = new Set(["start", "serve", "work", "demo"]);

let stopped: Promise<NodeJS.Signals> | undefined;

/**
 * Resolves with the first SIGINT or SIGTERM from the first call on, which no longer ends the process by itself. A second signal of
 * the same kind does.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  stopped ??= new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  return stopped;
}

/** Listens for the signal if the command is one that runs until then: also while the program is still being loaded. */
export function listenForStop(command: string | undefined): void {
  if (SERVICES.has(command)) void stopSignal();
}
