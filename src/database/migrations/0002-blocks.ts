import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * Blocks beside the rows of snapshots and of past ranks, which become the newest part. Rows are packed in the background:
 * repositories with many snapshots in rows are marked here.
 */
export const blocks: Migration = {
  name: "blocks",
  async up(tx, { types: { integer, bytes }, clustered }) {
    await sql`create table snapshot_blocks (
      repository_id ${integer} not null,
      from_at ${integer} not null, -- of the first snapshot; blocks of a repository do not overlap
      to_at ${integer} not null, -- of the last snapshot
      snapshots ${integer} not null,
      data ${bytes} not null,
      primary key (repository_id, from_at)
    ) ${clustered}`.execute(tx);
    await sql`create table rank_blocks (
      repository_id ${integer} not null,
      from_day ${integer} not null, -- days since 1970
      to_day ${integer} not null,
      data ${bytes} not null,
      primary key (repository_id, from_day)
    ) ${clustered}`.execute(tx);
    await sql`create index rank_blocks_day on rank_blocks (to_day)`.execute(tx);
    await sql`insert into outdated (kind, repository_id)
      select 'tails', repository_id from snapshots group by repository_id having count(*) >= 6`.execute(tx);
  },
};
