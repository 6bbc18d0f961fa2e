import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/** What the scores of a rollup are made from, the scores, and how far they can be trusted. */
export const scores: Migration = {
  name: "scores",
  async up(tx, dialect) {
    const { integer, text, real } = dialect.types;
    const columns = {
      stars_from: sql`${integer} not null default 0`,
      forks_from: integer,
      open_issues_from: integer,
      snapshots: sql`${integer} not null default 2`,
      counted: sql`${real} not null default 1`,
      anomalies: text,
      trending: integer,
      rising: integer,
      new_hot: integer,
      star_momentum: integer,
      fork_momentum: integer,
      activity: integer,
      confidence: sql`${integer} not null default 0`,
      reliable: sql`smallint not null default 0`,
    };
    for (const [name, type] of Object.entries(columns)) {
      await sql`alter table rollups add column ${sql.raw(name)} ${type}`.execute(tx);
    }
    // Most repositories do not move in a window; only those that do are in the order of a score.
    for (const name of ["trending", "rising", "new_hot", "activity"]) {
      await sql`create index ${sql.raw(`rollups_${name}`)} on rollups
        (window_hours, ${sql.raw(name)} desc, repository_id desc) where ${sql.raw(name)} > 0`.execute(tx);
    }
    await sql`create index rollups_reliable on rollups (window_hours, repository_id) where reliable = 1`.execute(
      tx,
    );
    await sql`create table score_scales (
      provider ${text} not null,
      window_hours ${integer} not null,
      as_of ${integer} not null,
      stars ${real} not null,
      forks ${real} not null,
      primary key (provider, window_hours)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create table positions (
      ranking ${text} not null,
      window_hours ${integer} not null,
      scope ${text} not null,
      scope_name ${text} not null,
      position ${integer} not null,
      repository_id ${integer} not null,
      primary key (ranking, window_hours, scope, scope_name, position)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create index positions_repository on positions (repository_id)`.execute(tx);
    await sql`create table rank_history (
      repository_id ${integer} not null,
      ranking ${text} not null,
      window_hours ${integer} not null,
      scope ${text} not null,
      day ${integer} not null,
      position ${integer} not null,
      primary key (repository_id, ranking, window_hours, scope, day)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create index rank_history_day on rank_history (day)`.execute(tx);
    // Rollups made before have none of this; all are made again.
    await sql`insert into outdated (kind, repository_id) select distinct 'rollups', repository_id from rollups
      where true on conflict do nothing`.execute(tx);
  },
};
