/** The tables of the store: which of them a backup holds, and how they refer to each other. */
import { sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import { LATEST_VERSION, migrateIn } from "./migrate.js";
import { openSqlite, sqliteDialect } from "./sqlite.js";
import { WriteQueue } from "./sqlite-writer.js";

/**
 * What each table is to a backup: it stores primary tables, and derived ones are built again after a restore, or by the processes
 * that report in them. Tables come after those that they refer to.
 */
export const TABLES = {
  schema_version: "derived",
  marks: "primary",
  revision: "primary",
  changes: "derived",
  repositories: "primary",
  previous_names: "primary",
  snapshot_blocks: "primary",
  snapshots: "primary",
  snapshot_hours: "primary",
  renames: "primary",
  import_files: "primary",
  waiting_rows: "primary",
  rank_history: "primary",
  rank_blocks: "primary",
  // Work that is due, such as long tails to pack.
  outdated: "primary",
  rollups: "derived",
  summaries: "derived",
  tracking: "primary",
  walks: "primary",
  lost_days: "primary",
  new_days: "primary",
  forge_tokens: "primary",
  avatars: "primary",
  worker_lease: "derived",
  worker_reports: "derived",
  status_documents: "derived",
  accounts: "primary",
  identities: "primary",
  passkeys: "primary",
  sessions: "primary",
  verifications: "primary",
  sign_in_requests: "primary",
  api_keys: "primary",
  usage_routes: "primary",
  usage_allowances: "primary",
  usage_callers: "primary",
  usage_events: "primary",
  account_events: "primary",
  quota_use: "primary",
  operator_sessions: "primary",
  watchlists: "primary",
  watchlist_items: "primary",
  watchlist_visits: "primary",
  track_lists: "primary",
  track_requests: "primary",
  track_request_lists: "primary",
  track_questions: "primary",
} as const satisfies Readonly<Record<string, "primary" | "derived">>;

/** A table as migrations make it. */
export interface TableShape {
  name: string;
  columns: string[];
  /** The columns of its primary key, in order. */
  key: string[];
  /** Columns that hold the value of another table's column. */
  references: Reference[];
}

export interface Reference {
  column: string;
  target: string;
  targetColumn: string;
}

/** All tables of a store of this version, on either engine. Takes some 50 ms. */
export async function readShapes(clock: Clock, version = LATEST_VERSION): Promise<TableShape[]> {
  const { db } = openSqlite(":memory:", { synchronous: "NORMAL", writers: new WriteQueue(clock) });
  try {
    await db.transaction().execute((tx) => migrateIn(tx, sqliteDialect, { clock, to: version }));
    const { rows: columns } = await sql<{ table: string; name: string; pk: number }>`
      select t.name as "table", c.name, c.pk from pragma_table_list t, pragma_table_info(t.name) c
      where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' order by t.name, c.cid`.execute(
      db,
    );
    const { rows: references } = await sql<Reference & { table: string }>`
      select t.name as "table", f."from" as "column", f."table" as target, f."to" as "targetColumn"
      from pragma_table_list t, pragma_foreign_key_list(t.name) f where t.schema = 'main'`.execute(db);
    return [...Map.groupBy(columns, ({ table }) => table)].map(([name, own]) => {
      const key = own.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
      const declared = references.filter(({ table }) => table === name);
      const isOfRepository =
        key.some((column) => column.name === OF_REPOSITORY.column) && declared.length === 0;
      return {
        name,
        columns: own.map((column) => column.name),
        key: key.map((column) => column.name),
        references: isOfRepository ? [OF_REPOSITORY] : declared,
      };
    });
  } finally {
    await db.destroy();
  }
}

/** Large tables have no foreign key, for speed, but the id of a repository in their primary key. */
const OF_REPOSITORY: Reference = { column: "repository_id", target: "repositories", targetColumn: "id" };

/** Names of the primary tables, those first that others refer to. */
export const PRIMARY_TABLES: readonly string[] = Object.entries(TABLES)
  .filter(([, kind]) => kind === "primary")
  .map(([name]) => name);
