import { attacks } from "./attacks.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "the worst patterns of allowed requests are refused when their limits are reached, and cause no error",
  attacks,
);
