import { kills } from "./kills.js";
import { testHarness } from "./support/test-harness.js";

testHarness("no acknowledged change is lost when all processes are killed", kills);
