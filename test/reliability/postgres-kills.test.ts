import { postgresKills } from "./postgres-kills.js";
import { testHarness } from "./support/test-harness.js";

testHarness(
  "no acknowledged change is lost when PostgreSQL is killed, and the service recovers by itself",
  postgresKills,
);
