import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** How many new repositories lists have shown per provider and day (UTC). */
export const newDays: Migration = {
  name: "new-days",
  async up(tx, { types: { integer, text }, clustered }) {
    await sql`create table new_days (
      provider ${text} not null,
      day ${integer} not null,
      added ${integer} not null,
      surplus ${integer} not null, -- rows beyond the limit of the day
      primary key (provider, day)
    ) ${clustered}`.execute(tx);
  },
};
