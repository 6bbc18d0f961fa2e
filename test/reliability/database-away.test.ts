import { databaseAway } from "./database-away.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "while the database is away, cached responses are served and all others are refused, until it is back",
  databaseAway,
);
