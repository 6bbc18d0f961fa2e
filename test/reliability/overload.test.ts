import { overload } from "./overload.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "at three times its capacity the queue computes as much as at its capacity, in time, accounts first",
  overload,
);
