import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Lists without an owner are deleted when nobody has opened them for a year, and callers may add only so much in a day. */
export const boundedWatchlists: Migration = {
  name: "bounded-watchlists",
  async up(tx, { engine, types: { integer, text }, clustered }) {
    // When existing lists were opened is not known: their year begins now.
    const now =
      engine === "sqlite" ? sql`unixepoch() * 1000` : sql`cast(extract(epoch from now()) * 1000 as bigint)`;
    const statements = [
      sql`alter table watchlists add column opened_at ${integer}`, // to the day; null for the list of an account
      sql`update watchlists set opened_at = ${now} where account_id is null`,
      sql`create index watchlists_opened on watchlists (opened_at) where opened_at is not null`,
      // What callers have used up of the quotas of a day.
      sql`create table daily_use (
        day ${integer} not null, -- since 1970, UTC
        quota ${text} not null,
        caller ${text} not null, -- HMAC of the day and an address, a network or an account
        used ${integer} not null,
        primary key (day, quota, caller)
      ) ${clustered}`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
