import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** One worker is active, by a lease; repositories, walks and requests are no longer leased, and quotas no longer shared. */
export const oneWorker: Migration = {
  name: "one-worker",
  async up(tx, { types: { integer, text }, clustered }) {
    const statements = [
      sql`create table worker_lease (
        id ${integer} primary key, -- always 1
        holder ${text} not null,
        ends_at ${integer} not null -- by the clock of the database
      )`,
      sql`drop index tracking_leased`,
      sql`alter table tracking drop column leased_until`,
      sql`alter table walks drop column leased_until`,
      sql`alter table track_requests rename column leased_until to retry_at`,
      sql`alter table track_lists rename column leased_until to retry_at`,
      sql`drop table forge_states`,
      sql`drop table track_lanes`,
      // One report for each provider; the worker writes it again within seconds.
      sql`drop table worker_reports`,
      sql`create table worker_reports (
        provider ${text} primary key,
        at ${integer} not null,
        body ${text} not null -- JSON
      ) ${clustered}`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
