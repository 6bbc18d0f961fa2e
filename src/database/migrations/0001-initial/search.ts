import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** The search index, which each engine builds in its own way. */
export function searchTables({ engine }: MigrationEngine): RawBuilder<unknown>[] {
  if (engine === "postgres") {
    return [
      sql`alter table repositories add column search_names tsvector, add column search_terms tsvector`,
      sql`create index repositories_search_names on repositories using gin (search_names)`,
      sql`create index repositories_search_terms on repositories using gin (search_terms)`,
      // Ids are allocated in batches, so the column has no default.
      sql`create sequence repositories_id_seq`,
    ];
  }
  return [
    // The rowid of a document is its rank by stars, so the best matches are found first.
    sql`create virtual table search_words using fts5(
      names, terms, content='', contentless_delete=1, detail='column', prefix='1 2 3',
      tokenize="unicode61 remove_diacritics 0 tokenchars '+#'")`,
    sql`create table search_positions (
      position integer primary key,
      repository_id integer not null unique,
      names text not null,
      terms text not null
    )`,
  ];
}
