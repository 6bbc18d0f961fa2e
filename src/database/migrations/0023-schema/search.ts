import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** The search index. It starts empty: the first update of derived data builds it. */
export function searchTables({ types: { integer, text, bytes } }: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // One row.
    sql`create table search_state (
      id ${integer} primary key,
      first_block ${integer}, -- null until the index has been built
      built_blocks ${integer} not null, -- written by the last rebuild; later ones were appended
      positions ${integer} not null, -- in use or left free, from the start of the first block
      documents ${integer} not null, -- indexed by the last rebuild
      slots ${integer} not null, -- given out since the last rebuild
      version ${integer} not null, -- incremented with every change of the index
      vocabulary ${text} not null -- words that typing errors are corrected to, most frequent first, one a line
    )`,
    sql`insert into search_state (id, first_block, built_blocks, positions, documents, slots, version, vocabulary)
      values (1, null, 0, 0, 0, 0, 0, '')`,

    // Which repository has which position: 1,024 positions in a row.
    sql`create table search_pages (
      page ${integer} primary key,
      ids ${bytes} not null, -- 64-bit floats; 0: free
      stars ${bytes} not null -- 64-bit floats, when the index was built; -1: unknown
    )`,

    // Repositories added since the index was built, in the order of their slots: some in a row.
    sql`create table search_additions (
      first_block ${integer} not null, -- of the index
      slot ${integer} not null, -- of the first of them
      data ${bytes} not null, -- 64-bit floats, four of each; see additions.ts in search
      primary key (first_block, slot)
    )`,

    // Consecutive words of a block, or prefixes, under the first of them. Not clustered: SQLite would read the bytes of several
    // rows on the way to one.
    sql`create table search_words (
      block ${integer} not null,
      word ${text} not null,
      data ${bytes} not null,
      primary key (block, word)
    )`,
  ];
}
