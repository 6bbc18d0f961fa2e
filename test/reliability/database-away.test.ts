import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseAway } from "./database-away.js";
import { missedRows, runHarness } from "./support/harness.js";

test("while the database is away, cached responses are served and all others are refused, until it is back", async () => {
  const rows = await runHarness(databaseAway, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
