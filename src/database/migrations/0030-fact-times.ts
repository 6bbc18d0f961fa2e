import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Each fact of a repository has the time of the source that reported it. */
export const factTimes: Migration = {
  name: "fact times",
  async up(tx, { types: { text } }) {
    await sql`alter table repositories add column fact_times ${text}`.execute(tx); // JSON; null: those of refreshed_at and counted_at
  },
};
