import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** What people ask a forge before they choose repositories, and its answers. */
export const trackQuestions: Migration = {
  name: "track questions",
  async up(tx, { types: { integer, ownId, text } }) {
    await sql`create table track_questions (
      id ${ownId} primary key,
      public_id ${text} not null, -- the same for one question to several forges
      provider ${text} not null,
      kind ${text} not null, -- owner or name
      sought ${text} not null,
      asked_at ${integer} not null,
      attempts ${integer} not null,
      retry_at ${integer} not null,
      failure ${text}, -- one of providers' FAILURE_KINDS
      total ${integer}, -- repositories that the forge counts
      candidates ${text}, -- JSON
      answered_at ${integer}, -- null: open
      unique (public_id, provider)
    )`.execute(tx);
    await sql`create index track_questions_open on track_questions (provider, id) where answered_at is null`.execute(
      tx,
    );
    await sql`create index track_questions_asked on track_questions (asked_at)`.execute(tx);
  },
};
