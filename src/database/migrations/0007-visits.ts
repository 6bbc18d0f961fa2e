import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/** When the owner of a personal watchlist looked at it, and what it was like then: what has changed since can be told. */
export const visits: Migration = {
  name: "visits",
  async up(tx, dialect) {
    const { integer, text } = dialect.types;
    await sql`create table account_visits (
      account_id ${text} not null primary key references accounts (id) on delete cascade,
      seen_at ${integer} not null,
      seen ${text} not null,
      before_at ${integer},
      before ${text}
    )`.execute(tx);
  },
};
