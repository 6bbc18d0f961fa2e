import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Each avatar has its image, so that both are written and removed together. */
export const ownedAvatars: Migration = {
  name: "owned-avatars",
  async up(tx, { types: { integer, text, bytes } }) {
    const statements = [
      sql`create table owned_avatars (
        provider ${text} not null,
        owner_key ${text} not null, -- the owner in small letters
        owner ${text} not null,
        address ${text}, -- as its forge reported it; null: not yet
        version ${text}, -- of the image: the beginning of the SHA-256 of its bytes; null: none
        png ${bytes}, -- null: none
        next_at ${integer} not null, -- when it is to be requested
        wanted_at ${integer} not null, -- when its owner was last on a list
        primary key (provider, owner_key)
      )`,
      sql`insert into owned_avatars select a.provider, a.owner_key, a.owner, a.address, i.version, i.png, a.next_at, a.wanted_at
        from avatars a left join avatar_images i on i.version = a.version`,
      sql`drop table avatars`,
      sql`drop table avatar_images`,
      sql`alter table owned_avatars rename to avatars`,
      sql`create index avatars_next on avatars (provider, next_at)`,
      sql`create index avatars_wanted on avatars (wanted_at)`,
      // Pages read all versions, without the images beside them.
      sql`create index avatars_version on avatars (version, provider, owner_key) where version is not null`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
