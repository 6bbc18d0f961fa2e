import { restoreKills } from "./restore-kills.js";
import { hasProgram } from "./support/disk-faults.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "a restore that is killed leaves the old store or the new one, and the next restore completes",
  restoreKills,
  { skip: !hasProgram("strace") && "strace is not installed" },
);
