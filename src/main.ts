#!/usr/bin/env node
/**
 * Entry, which the launcher of an installed package loads: checks the version of Node.js, starts again with flags that keep memory small, and listens for the signal to stop, before it
 * loads the program. Listening must come last: the program that replaces this one would not receive a signal caught here.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { restartWithFlags } from "./lib/node-flags.js";
import { unsafeNode } from "./lib/node-version.js";
import { listenForStop } from "./lib/stop-signal.js";

const problem = unsafeNode(process.version);
if (problem !== undefined) {
  process.stderr.write(`${problem} "npm ci" installs one that npm scripts use.\n`);
  process.exitCode = 1;
} else {
  restartWithFlags(process.argv);
  // The next start compiles nothing. Without write access to the folder, each one compiles.
  enableCompileCache(fileURLToPath(new URL("../compiled", import.meta.url)));
  listenForStop(process.argv[2], process.env);
  // Not awaited, as only modules without top-level await can be loaded with `require`.
  void import("./app/app.js");
}
