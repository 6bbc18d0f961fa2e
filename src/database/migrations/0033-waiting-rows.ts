import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Rows of files of archives that wait for the next file. */
export const waitingRows: Migration = {
  name: "waiting rows",
  async up(tx, { clustered, types: { integer, text } }) {
    await sql`create table waiting_rows (
      source ${text} not null,
      captured_at ${integer} not null,
      file ${text} not null,
      first_row ${integer} not null,
      observations ${text} not null, -- JSON
      primary key (source, captured_at, file, first_row)
    ) ${clustered}`.execute(tx);
    // This kind of damage is a jump like others now.
    await sql`update import_files set damage = replace(damage, '"SWAPPED"', '"JUMPS"')`.execute(tx);
  },
};
