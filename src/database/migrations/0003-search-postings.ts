import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * Replaces the full-text indexes of the engines by one of our own, in tables that are the same on both. It starts empty: the
 * first update of derived data builds it.
 */
export const searchPostings: Migration = {
  name: "search-postings",
  async up(tx, { engine, types: { integer, text, bytes } }) {
    const statements =
      engine === "postgres"
        ? [sql`alter table repositories drop column search_names, drop column search_terms`]
        : [sql`drop table search_words`, sql`drop table search_positions`];
    statements.push(
      // One row. first_block is null until the index has been built.
      sql`create table search_state (
        id ${integer} primary key,
        first_block ${integer},
        built_blocks ${integer} not null, -- written by the last rebuild; later ones were appended
        positions ${integer} not null, -- in use or left free, from the start of the first block
        documents ${integer} not null, -- indexed by the last rebuild
        changes ${integer} not null, -- positions given out since the last rebuild
        version ${integer} not null, -- incremented with every change of the index
        vocabulary ${text} not null -- words that typing errors are corrected to, most frequent first, one a line
      )`,
      sql`insert into search_state (id, first_block, built_blocks, positions, documents, changes, version, vocabulary)
        values (1, null, 0, 0, 0, 0, 0, '')`,
      // Which repository has which position: 1,024 positions in a row.
      sql`create table search_pages (
        page ${integer} primary key,
        version ${integer} not null, -- of the index when this row was last written
        ids ${bytes} not null, -- 64-bit floats; 0: free, -1: no longer in use
        stars ${bytes} not null -- 64-bit floats, when the position was given out; -1: unknown
      )`,
      sql`create index search_pages_version on search_pages (version)`,
      // Consecutive words of a block, or prefixes, under the first of them. Not clustered: SQLite would read the bytes of
      // several rows on the way to one.
      sql`create table search_words (
        block ${integer} not null,
        word ${text} not null,
        data ${bytes} not null,
        primary key (block, word)
      )`,
      sql`insert into runs (id, generation, owner, seen_at) values (3, 0, null, 0)`,
    );
    for (const statement of statements) await statement.execute(tx);
  },
};
