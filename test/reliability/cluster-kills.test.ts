import assert from "node:assert/strict";
import { test } from "node:test";
import { WITHOUT_CLUSTER } from "../support/cluster.js";
import { clusterKills } from "./cluster-kills.js";
import { missedRows, runHarness } from "./support/harness.js";

test("no acknowledged write is lost when parts of a cluster are killed", {
  skip: WITHOUT_CLUSTER,
}, async () => {
  const lines: string[] = [];
  const rows = await runHarness(clusterKills, { scale: "short", report: (line) => lines.push(line) });
  assert.deepEqual(missedRows(rows), [], lines.join("\n"));
});
