/** Loaded before the test runner, in its process and in those of the test files. */
import hooks from "node:async_hooks";

/**
 * Otherwise the runner follows every promise to name the test that an uncaught error belongs to. That doubles the CPU time of tests
 * that simulate days of work. Uncaught errors still fail the run, but in the name of their file.
 */
const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ trackPromises: false, ...callbacks });

/** What is written to a pipe that is full waits in memory, and is lost when the runner ends its process: results of tests. */
for (const stream of [process.stdout, process.stderr])
  (stream as { _handle?: { setBlocking?(isBlocking: boolean): void } })._handle?.setBlocking?.(true);
