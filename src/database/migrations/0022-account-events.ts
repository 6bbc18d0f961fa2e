import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * One table of account events, without counted ones and refusals of nobody; one of all quotas; operators' codes among those to sign in.
 * Counts of the current hour and day, and codes in use, begin again.
 */
export const accountEvents: Migration = {
  name: "account-events",
  async up(tx, { types: { integer, ownId, text }, clustered }) {
    const statements = [
      // No reference to the account: what led to its end is kept as long as the rest.
      sql`create table account_events (
        id ${ownId} primary key,
        at ${integer} not null,
        account_id ${text}, -- null: an operator at the machine
        event ${text} not null,
        network ${text} not null, -- of the sender, shortened
        detail ${text} not null -- JSON object without secrets
      )`,
      sql`insert into account_events (at, account_id, event, network, detail)
        select at, account_id, event, network, case when times = 1 then detail
          when detail = '{}' then '{"times":' || times || '}'
          else substr(detail, 1, length(detail) - 1) || ',"times":' || times || '}' end
        from security_events
        where event not in ('sign_in_refused', 'key_refused', 'cross_site_refused', 'rate_limited') order by id`,
      sql`create index account_events_account on account_events (account_id, id) where account_id is not null`,
      sql`create index account_events_at on account_events (at)`,
      sql`create table quota_use (
        quota ${text} not null,
        holder ${text} not null, -- HMAC of the period and the holder; or a word
        ends_at ${integer} not null, -- end of the period
        used ${integer} not null,
        primary key (quota, holder, ends_at)
      ) ${clustered}`,
      ...["security_events", "daily_use", "mail_use", "operator_codes"].map(
        (name) => sql`drop table ${sql.table(name)}`,
      ),
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
