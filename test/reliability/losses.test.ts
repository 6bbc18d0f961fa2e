import { losses } from "./losses.js";
import { testHarness } from "./support/test-harness.js";

testHarness("no forge that wrongly reports its repositories missing makes one unavailable for good", losses);
