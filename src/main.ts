#!/usr/bin/env node
/** Entry: looks at the Node.js it runs on before anything is loaded that an old one does not have. */
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
