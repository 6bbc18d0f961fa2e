import { sql } from "kysely";
import type { Migration } from "../migrate.js";
import { createRollupTable, indexRollupTable } from "../rollup-tables.js";

/** Rollups that can be swapped as a whole; places, facets and counters that are kept by what changed. */
export const growth: Migration = {
  name: "growth",
  async up(tx, dialect) {
    const { integer, text } = dialect.types;
    await sql`drop table rollups`.execute(tx);
    await createRollupTable(dialect, "rollups", 0).execute(tx);
    for (const index of indexRollupTable("rollups", 0)) await index.execute(tx);
    await sql`create table runs (
      id ${integer} primary key,
      generation ${integer} not null,
      owner ${text},
      seen_at ${integer} not null
    )`.execute(tx);
    await sql`insert into runs (id, generation, owner, seen_at) values (1, 0, null, 0), (2, 0, null, 0)`.execute(
      tx,
    );
    await sql`create table fall_days (
      provider ${text} not null,
      day ${integer} not null,
      fell ${integer} not null,
      compared ${integer} not null,
      primary key (provider, day)
    ) ${dialect.clustered}`.execute(tx);

    await sql`drop table positions`.execute(tx);
    await sql`create table positions (
      ranking ${text} not null,
      window_hours ${integer} not null,
      scope ${text} not null,
      scope_name ${text} not null,
      position ${integer} not null,
      repository_id ${integer} not null,
      value ${integer} not null,
      primary key (ranking, window_hours, scope, scope_name, position)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create index positions_repository on positions (repository_id)`.execute(tx);
    await sql`create table position_ends (
      ranking ${text} not null,
      window_hours ${integer} not null,
      scope ${text} not null,
      scope_name ${text} not null,
      value ${integer} not null,
      repository_id ${integer} not null,
      primary key (ranking, window_hours, scope, scope_name)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create table facet_parts (
      repository_id ${integer} primary key,
      provider ${text} not null,
      language ${text},
      topics ${text} not null,
      stars ${integer} not null,
      stars_gained_24h ${integer} not null,
      stars_gained_7d ${integer} not null,
      stars_gained_30d ${integer} not null
    )`.execute(tx);
    await sql`delete from facets`.execute(tx);
    await sql`create index repositories_refreshed on repositories (provider, refreshed_at)
      where availability = 'AVAILABLE'`.execute(tx);
    // Growth, places and facets of all are made again.
    await sql`delete from score_scales`.execute(tx);
    await sql`delete from outdated where kind = 'scores'`.execute(tx);
    await sql`insert into outdated (kind, repository_id) select 'rollups', id from repositories
      where true on conflict do nothing`.execute(tx);
  },
};
