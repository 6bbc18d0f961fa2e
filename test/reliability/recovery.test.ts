import { recovery } from "./recovery.js";
import { testHarness } from "./support/test-harness.js";

testHarness("a catalogue whose worker is killed has the same rankings as one that was left alone", recovery);
