import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** The repositories of a list that were left out, so that people can send them again. */
export const leftOutNames: Migration = {
  name: "left out names",
  async up(tx, { types: { text } }) {
    await sql`alter table track_lists add column left_out_names ${text}`.execute(tx); // JSON; null: none
  },
};
