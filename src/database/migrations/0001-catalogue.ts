import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/** Repositories, snapshots, what is derived from them, and watchlists. */
export const catalogue: Migration = {
  name: "catalogue",
  async up(tx, dialect) {
    const { integer, text, real } = dialect.types;
    const clustered = dialect.clustered;

    await sql`create table repositories (
      id ${integer} primary key,
      provider ${text} not null,
      provider_id ${text},
      owner ${text} not null,
      name ${text} not null,
      name_key ${text},
      url ${text} not null,
      description ${text},
      homepage ${text},
      language ${text},
      license ${text},
      topics ${text} not null,
      stars ${integer},
      forks ${integer},
      open_issues ${integer},
      watchers ${integer},
      fork smallint,
      archived smallint,
      availability ${text} not null,
      created_at ${integer},
      pushed_at ${integer},
      discovered_at ${integer} not null,
      refreshed_at ${integer},
      counted_at ${integer},
      next_refresh_at ${integer},
      said ${integer} not null
    )`.execute(tx);
    await sql`create unique index repositories_name on repositories (provider, name_key)`.execute(tx);
    await sql`create unique index repositories_provider_id on repositories (provider, provider_id)`.execute(
      tx,
    );
    // One index a plain sort; -1 stands for "not known", so that both engines put it last. GONE ones are in no list.
    for (const column of ["stars", "forks", "pushed_at", "created_at"]) {
      await sql`create index ${sql.raw(`repositories_by_${column}`)} on repositories
        (${sql.raw(`coalesce(${column}, -1)`)} desc, id desc) where availability = 'AVAILABLE'`.execute(tx);
    }
    await sql`create index repositories_language on repositories
      (language, coalesce(stars, -1) desc, id desc) where availability = 'AVAILABLE'`.execute(tx);
    await sql`create index repositories_provider on repositories
      (provider, coalesce(stars, -1) desc, id desc) where availability = 'AVAILABLE'`.execute(tx);
    for (const column of ["archived", "fork"]) {
      await sql`create index ${sql.raw(`repositories_${column}`)} on repositories (id)
        where ${sql.raw(column)} = 1 and availability = 'AVAILABLE'`.execute(tx);
    }
    await sql`create index repositories_license on repositories (license) where availability = 'AVAILABLE'`.execute(
      tx,
    );

    await sql`create table repository_topics (
      repository_id ${integer} not null references repositories (id),
      topic ${text} not null,
      primary key (repository_id, topic)
    ) ${clustered}`.execute(tx);
    await sql`create index repository_topics_topic on repository_topics (topic, repository_id)`.execute(tx);

    await sql`create table previous_names (
      repository_id ${integer} not null references repositories (id),
      provider ${text} not null,
      name_key ${text} not null,
      full_name ${text} not null,
      until ${integer} not null,
      primary key (repository_id, name_key)
    ) ${clustered}`.execute(tx);
    await sql`create index previous_names_name on previous_names (provider, name_key, until)`.execute(tx);

    await sql`create table snapshots (
      repository_id ${integer} not null,
      captured_at ${integer} not null,
      stars ${integer} not null,
      forks ${integer},
      open_issues ${integer},
      watchers ${integer},
      source smallint not null,
      primary key (repository_id, captured_at)
    ) ${clustered}`.execute(tx);
    await sql`create table snapshot_hours (
      provider ${text} not null,
      hour ${integer} not null,
      snapshots ${integer} not null,
      newest_at ${integer} not null,
      primary key (provider, hour)
    ) ${clustered}`.execute(tx);

    await sql`create table outdated (
      kind ${text} not null,
      repository_id ${integer} not null,
      primary key (kind, repository_id)
    ) ${clustered}`.execute(tx);
    await sql`create table marks (name ${text} primary key, value ${text} not null)`.execute(tx);
    await sql`create table revision (id ${integer} primary key, value ${integer} not null)`.execute(tx);
    await tx.insertInto("revision").values({ id: 1, value: 0 }).execute();

    await sql`create table rollups (
      repository_id ${integer} not null references repositories (id),
      window_hours ${integer} not null,
      provider ${text} not null,
      from_at ${integer} not null,
      to_at ${integer} not null,
      stars_delta ${integer} not null,
      forks_delta ${integer},
      open_issues_delta ${integer},
      stars_growth ${real},
      primary key (repository_id, window_hours)
    ) ${clustered}`.execute(tx);
    await sql`create index rollups_stars on rollups (window_hours, stars_delta desc, repository_id desc)`.execute(
      tx,
    );
    await sql`create index rollups_forks on rollups (window_hours, forks_delta desc, repository_id desc)
      where forks_delta is not null`.execute(tx);
    await sql`create index rollups_age on rollups (provider, window_hours, to_at)`.execute(tx);

    await sql`create table facets (
      kind ${text} not null,
      provider ${text} not null,
      name ${text} not null,
      name_key ${text} not null,
      repositories ${integer} not null,
      stars ${integer} not null,
      stars_gained_24h ${integer} not null,
      stars_gained_7d ${integer} not null,
      stars_gained_30d ${integer} not null,
      primary key (kind, provider, name)
    ) ${clustered}`.execute(tx);
    await sql`create index facets_popular on facets (kind, provider, repositories desc, name)`.execute(tx);
    await sql`create index facets_name on facets (kind, provider, name_key)`.execute(tx);
    await sql`create table summaries (id ${integer} primary key, body ${text} not null)`.execute(tx);

    await sql`create table watchlists (
      id ${dialect.types.ownId} primary key,
      token_hash ${text} not null unique,
      share_token_hash ${text} not null unique,
      name ${text} not null,
      version ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`.execute(tx);
    await sql`create table watchlist_items (
      watchlist_id ${integer} not null references watchlists (id) on delete cascade,
      repository_id ${integer} not null references repositories (id),
      place ${integer} not null,
      added_at ${integer} not null,
      primary key (watchlist_id, repository_id)
    ) ${clustered}`.execute(tx);

    for (const statement of dialect.searchTables()) await statement.execute(tx);
  },
};
