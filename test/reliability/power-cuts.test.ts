import { powerCuts } from "./power-cuts.js";
import { powerProblem } from "./support/power.js";
import { testHarness } from "./support/test-harness.js";

const problem = powerProblem();

testHarness("no acknowledged change is lost when the power fails", powerCuts, { skip: problem ?? false });
