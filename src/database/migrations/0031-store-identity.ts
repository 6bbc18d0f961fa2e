import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** The store has an identity, and the latest revisions have marks: processes notice another store, and one that has lost changes. */
export const storeIdentity: Migration = {
  name: "store-identity",
  async up(tx, { engine, types: { text } }) {
    const random = engine === "sqlite" ? "lower(hex(randomblob(12)))" : "substr(md5(random()::text), 1, 24)";
    const statements = [
      sql`alter table revision add column store ${text} not null default ''`,
      // Of the latest revisions, newest first, four characters each.
      sql`alter table revision add column marks ${text} not null default ''`,
      sql`update revision set store = ${sql.raw(random)}`,
      sql`update revision set marks = substr(store, 1, 4)`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
