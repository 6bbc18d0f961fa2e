import { disk } from "./disk.js";
import { testHarness } from "./support/test-harness.js";

// The limit on the size of files is one of Linux.
testHarness(
  "when the disk is full, only what is saved is acknowledged, reads go on, and writes work again later",
  disk,
  { skip: process.platform !== "linux" },
);
