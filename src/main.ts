#!/usr/bin/env node
/** Entry: checks the version of Node.js, and starts batch commands with their heap, before it loads the program. */
import { needsBatchHeap, runWithBatchHeap } from "./batch-heap.js";
import { unsafeNode } from "./node-version.js";

const problem = unsafeNode(process.version);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else if (needsBatchHeap(process.argv.slice(2))) {
  process.exitCode = await runWithBatchHeap();
} else {
  await import("./run.js");
}
