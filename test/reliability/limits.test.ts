import { limits } from "./limits.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "no pattern of requests gives an address or an account more units than its limits, or guesses more reads",
  limits,
);
