import { fuzzHarness } from "./fuzz/harness.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "generated requests lead to no server error and to nothing outside the contract, and change nothing that others see",
  fuzzHarness,
);
