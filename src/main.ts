#!/usr/bin/env node
/** Entry: looks at the Node.js it runs on before anything is loaded that an old one does not have. */
import { unsafeNode } from "./node-version.js";

const problem = unsafeNode(process.version);
if (problem === undefined) {
  await import("./run.js");
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
