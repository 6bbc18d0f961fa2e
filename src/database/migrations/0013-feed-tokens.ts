import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** The tokens that read the feeds of accounts' watchlists, and nothing else. */
export const feedTokens: Migration = {
  name: "feed-tokens",
  async up(tx, { types: { text } }) {
    await sql`alter table watchlists add column feed_token_hash ${text}`.execute(tx); // null: no feed
    await sql`create unique index watchlists_feed on watchlists (feed_token_hash)
      where feed_token_hash is not null`.execute(tx);
  },
};
