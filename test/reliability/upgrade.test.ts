import { testHarness } from "./support/test-harness.js";
import { upgrade } from "./upgrade.js";

testHarness(
  "a migration that fails at any statement, or is killed, leaves the old store whole, and the next start completes it",
  upgrade,
);
