import { followers } from "./followers.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "copies that follow the log of changes are equal to the catalogue, through restarts and a kill",
  followers,
);
