import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * Ranks by repository in place of one row per rank, and all leaderboards of a scope in one row. Ranks are kept for readers and
 * for the history; the leaderboards start empty, and the next update builds them.
 */
export const leaderboards: Migration = {
  name: "leaderboards",
  async up(tx, { types: { integer, text, bytes }, clustered }) {
    const statements = [
      sql`create table leaderboards (
        scope ${text} not null, -- overall, provider, language or topic
        scope_name ${text} not null, -- which of them; empty overall
        data ${bytes} not null,
        primary key (scope, scope_name)
      )`,
      sql`create table repository_ranks (
        repository_id ${integer} not null,
        scope ${text} not null,
        scope_name ${text} not null,
        ranks ${text} not null, -- code of the ranking, hours, letter of the scope and position, such as t24o12,s0o3
        primary key (repository_id, scope, scope_name)
      ) ${clustered}`,
      sql`insert into repository_ranks (repository_id, scope, scope_name, ranks)
        select repository_id, scope, scope_name, string_agg(concat_ws('', case ranking
          when 'trending' then 't' when 'rising' then 'r' when 'new_hot' then 'n' when 'forks_gained' then 'f'
          when 'stars_gained' then 'g' else 's' end, window_hours, substr(scope, 1, 1), position), ',')
        from ranks where position <= case scope when 'language' then 200 when 'topic' then 50 else 1000 end
        group by repository_id, scope, scope_name`,
      sql`insert into outdated (kind, repository_id) select 'ranks', 0 from ranks limit 1 on conflict do nothing`,
      sql`drop table ranks`,
      sql`drop table rank_cutoffs`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
