import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Avatars of the owners on lists: where they are fetched, and the images, which are apart as they are rarely read. */
export const avatars: Migration = {
  name: "avatars",
  async up(tx, { types: { integer, text, bytes }, clustered }) {
    const statements = [
      sql`create table avatars (
        provider ${text} not null,
        owner_key ${text} not null, -- the owner in small letters
        owner ${text} not null,
        address ${text}, -- as its forge reported it; null: not yet
        version ${text}, -- which image; null: none
        bytes ${integer} not null, -- of the image
        etag ${text},
        next_at ${integer} not null, -- when it is due, or a lease on it ends
        failures ${integer} not null, -- consecutive
        problem ${text}, -- why there is no image; null: there is one, or it was not requested yet
        wanted_at ${integer} not null, -- when its owner was last on a list
        position ${integer} not null, -- of its owner in the order of the lists, from 0; the least visible go first
        changed_at ${integer} not null, -- when the version last changed
        primary key (provider, owner_key)
      ) ${clustered}`,
      sql`create index avatars_next on avatars (provider, next_at)`,
      sql`create index avatars_wanted on avatars (wanted_at)`,
      sql`create index avatars_position on avatars (position) where version is not null`,
      sql`create index avatars_version on avatars (version, changed_at) where version is not null`,
      sql`create table avatar_images (
        version ${text} not null primary key, -- of its bytes: the beginning of their SHA-256
        png ${bytes} not null
      )`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
