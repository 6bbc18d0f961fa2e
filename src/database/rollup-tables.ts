import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "./dialect.js";

/**
 * Creates a table of rollups. A full rebuild fills a twin beside the current table and swaps it in, because millions of rows
 * are written faster without indexes, and a reader then sees either all the old rows or all the new ones. `generation` keeps
 * the names of keys and indexes unique. There is no foreign key: rollups are derived, and rebuilt when a repository changes.
 *
 * Migrations create the first such table with SQL of their own; test/database/schema.test.ts checks that both agree.
 */
export function createRollupTable(dialect: Dialect, table: string, generation: number): RawBuilder<unknown> {
  const { integer, text, real } = dialect.types;
  return sql`create table ${sql.table(table)} (
    repository_id ${integer} not null,
    window_hours ${integer} not null,
    provider ${text} not null,
    from_at ${integer} not null,
    to_at ${integer} not null,
    stars_delta ${integer} not null,
    forks_delta ${integer},
    open_issues_delta ${integer},
    stars_counted ${integer} not null,
    forks_counted ${integer},
    stars_growth ${real},
    stars_from ${integer} not null,
    forks_from ${integer},
    open_issues_from ${integer},
    from_source smallint not null,
    first_seen_at ${integer},
    snapshots ${integer} not null,
    anomalies ${text},
    anomalous smallint not null,
    trending ${integer},
    rising ${integer},
    new_hot ${integer},
    star_momentum ${integer},
    fork_momentum ${integer},
    activity ${integer},
    confidence ${integer} not null,
    reliable smallint not null,
    stars_usual ${integer},
    held_until ${integer},
    held_delta ${integer},
    totals_from ${integer},
    constraint ${sql.raw(`rollups_key_${generation}`)} primary key (repository_id, window_hours)
  ) ${dialect.clustered}`;
}
