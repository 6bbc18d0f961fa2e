import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Watchlists follow repositories that were joined to another one, and name them. */
export const joinedItems: Migration = {
  name: "joined items",
  async up(tx, { types: { integer } }) {
    const joined = sql`select from_id from renames`;
    const statements = [
      sql`alter table watchlist_items add column from_id ${integer}`, // the id that was added; null: the same
      sql`update watchlists set version = version + 1
        where id in (select watchlist_id from watchlist_items where repository_id in (${joined}))`,
      sql`with recursive remaining (from_id, to_id) as (
          select from_id, to_id from renames
          union select r.from_id, n.to_id from remaining r join renames n on n.from_id = r.to_id)
        insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at, from_id)
        select i.watchlist_id, r.to_id, i.sort_order, i.added_at, i.repository_id
          from watchlist_items i join remaining r on r.from_id = i.repository_id
          where r.to_id not in (${joined})
        on conflict (watchlist_id, repository_id) do nothing`,
      sql`delete from watchlist_items where repository_id in (${joined})`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
