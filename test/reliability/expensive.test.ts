import assert from "node:assert/strict";
import { test } from "node:test";
import { onBothEngines } from "../support/engines.js";
import { countWork } from "./expensive/count-work.js";
import { workRows } from "./expensive/expensive.js";
import { missedRows } from "./support/harness.js";

onBothEngines("The most expensive requests", (engine) => {
  test("have a case for every route and parameter, and a bound on their work", async () => {
    assert.deepEqual(missedRows(workRows(await countWork(await engine.open()))), []);
  });
});
