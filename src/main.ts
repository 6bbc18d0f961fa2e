#!/usr/bin/env node
/** Entry: checks the version of Node.js, and starts again with flags that keep memory small, before it loads the program. */
import { restartWithFlags } from "./node-flags.js";
import { unsafeNode } from "./node-version.js";

const problem = unsafeNode(process.version);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  restartWithFlags(process.argv);
  await import("./run.js");
}
