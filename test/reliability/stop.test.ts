import { stop } from "./stop.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "a service stops in order while it opens its store, imports the sample, or responds to many",
  stop,
);
