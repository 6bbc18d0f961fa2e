import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresKills } from "./postgres-kills.js";
import { missedRows, runHarness } from "./support/harness.js";

test("no acknowledged change is lost when PostgreSQL is killed, and the service recovers by itself", async () => {
  const lines: string[] = [];
  const rows = await runHarness(postgresKills, { scale: "short", report: (line) => lines.push(line) });
  assert.deepEqual(missedRows(rows), [], lines.join("\n"));
});
