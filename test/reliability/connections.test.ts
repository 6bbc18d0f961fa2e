import { connections } from "./connections.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "the service closes connections that clients only hold open, and bounds them per address",
  connections,
);
