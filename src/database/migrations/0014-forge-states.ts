import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** What all processes together have sent to each forge. */
export const forgeStates: Migration = {
  name: "forge-states",
  async up(tx, { types: { text }, clustered }) {
    await sql`create table forge_states (
      provider ${text} primary key,
      body ${text} not null -- JSON of providers' SharedState; tokens are named by HMACs
    ) ${clustered}`.execute(tx);
  },
};
