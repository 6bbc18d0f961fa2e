/**
 * Loaded before the test runner, which otherwise follows every promise to name the test that an uncaught error belongs to. That
 * doubles the CPU time of tests that simulate days of work. Uncaught errors still fail the run, but in the name of their file.
 */
import hooks from "node:async_hooks";

const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ trackPromises: false, ...callbacks });
