/**
 * The tables of the store, one file a subject. Times are milliseconds since 1970 UTC (columns ending in `_at`, and `until`); booleans
 * are 0 or 1, null if unknown; `day` and `hour` count days and hours since 1970; texts compare bytewise on both engines.
 */
import { type RawBuilder, sql } from "kysely";
import * as accounts from "./accounts.js";
import * as catalogue from "./catalogue.js";
import { definitionOf, integer, type RowOf, type Table, type TableDialect, table, text } from "./describe.js";
import * as growth from "./growth.js";
import * as tracking from "./tracking.js";
import * as watchlists from "./watchlists.js";

const schemaVersion = table(
  { version: integer, name: text, applied_at: integer },
  { key: ["version"], isDerived: true },
);

/** Tables come after those that they refer to. */
export const TABLES = {
  schema_version: schemaVersion,
  marks: catalogue.marks,
  revision: catalogue.revision,
  repositories: catalogue.repositories,
  changes: catalogue.changes,
  previous_names: catalogue.previousNames,
  snapshot_blocks: catalogue.snapshotBlocks,
  snapshots: catalogue.snapshots,
  snapshot_hours: catalogue.snapshotHours,
  renames: catalogue.renames,
  hiding_rules: catalogue.hidingRules,
  hidden_repositories: catalogue.hiddenRepositories,
  import_files: catalogue.importFiles,
  waiting_rows: catalogue.waitingRows,
  imports: catalogue.imports,
  import_lists: catalogue.importLists,
  imported_files: catalogue.importedFiles,
  rank_history: growth.rankHistory,
  rank_blocks: growth.rankBlocks,
  outdated: catalogue.outdated,
  rollups: growth.rollups,
  summaries: growth.summaries,
  tracking: tracking.tracking,
  walks: tracking.walks,
  lost_days: tracking.lostDays,
  new_days: tracking.newDays,
  forge_tokens: tracking.forgeTokens,
  avatars: tracking.avatars,
  worker_lease: tracking.workerLease,
  worker_reports: tracking.workerReports,
  status_documents: tracking.statusDocuments,
  accounts: accounts.accounts,
  identities: accounts.identities,
  passkeys: accounts.passkeys,
  sessions: accounts.sessions,
  verifications: accounts.verifications,
  sign_in_requests: accounts.signInRequests,
  api_keys: accounts.apiKeys,
  usage_routes: accounts.usageRoutes,
  usage_allowances: accounts.usageAllowances,
  usage_callers: accounts.usageCallers,
  usage_events: accounts.usageEvents,
  account_events: accounts.accountEvents,
  quota_use: accounts.quotaUse,
  bans: accounts.bans,
  operator_sessions: accounts.operatorSessions,
  watchlists: watchlists.watchlists,
  watchlist_items: watchlists.watchlistItems,
  watchlist_visits: watchlists.watchlistVisits,
  wanted: tracking.wanted,
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;
export type Schema = { [N in TableName]: RowOf<(typeof TABLES)[N]> };

export type PreviousNameTable = Schema["previous_names"];
export type RepositoryTable = Schema["repositories"];
export type RollupTable = Schema["rollups"];
export type UsageAllowanceTable = Schema["usage_allowances"];
export type UsageCallerTable = Schema["usage_callers"];
export type UsageEventTable = Schema["usage_events"];
export type UsageRouteTable = Schema["usage_routes"];
export type WalkTable = Schema["walks"];
export type WantedTable = Schema["wanted"];

/** The statements that create the tables of a new store, with the one row that there always is. `store`: its name. */
export function schemaOf(
  dialect: TableDialect & { engine: "sqlite" | "postgres" },
  store: string,
): RawBuilder<unknown>[] {
  return [
    ...Object.entries<Table>(TABLES).flatMap(([name, described]) =>
      described.isAdded === true ? [] : definitionOf(name, described, dialect),
    ),
    // Ids of repositories are allocated in batches, so the column has no default.
    ...(dialect.engine === "postgres" ? [sql`create sequence repositories_id_seq`] : []),
    sql`insert into revision (id, value, store, marks) values (1, 1, ${store}, ${store.slice(0, 4)})`,
  ];
}

/** A table as a backup and a check see it. */
export interface TableShape {
  name: string;
  columns: readonly string[];
  /** The columns of its primary key, in order. */
  key: readonly string[];
  /** Columns that hold the value of another table's column. */
  references: readonly Reference[];
}

export interface Reference {
  column: string;
  target: string;
  targetColumn: string;
}

/** All tables, those first that others refer to. */
export const SHAPES: readonly TableShape[] = Object.entries<Table>(TABLES).map(
  ([name, { columns, key }]) => ({
    name,
    columns: Object.keys(columns),
    key,
    references: referencesOf(columns, key),
  }),
);

/** Those that a backup has. */
export const PRIMARY_SHAPES = SHAPES.filter(({ name }) => TABLES[name as TableName].isDerived !== true);

function referencesOf(columns: Table["columns"], key: readonly string[]): Reference[] {
  const declared = Object.entries(columns).flatMap(([column, { facts }]): Reference[] => {
    const [, table = "", targetColumn = ""] = /^(\w+) \((\w+)\)/.exec(facts.target ?? "") ?? [];
    return table === "" ? [] : [{ column, target: table, targetColumn }];
  });
  // Large tables have no foreign key, for speed, but the id of a repository in their primary key. Changes remember deleted ones.
  const isOfRepository = declared.length === 0 && key.includes("repository_id") && !("removed_at" in columns);
  return isOfRepository
    ? [{ column: "repository_id", target: "repositories", targetColumn: "id" }]
    : declared;
}

/** Column name → the PostgreSQL type its values are sent as. SQLite needs no types. */
export type BulkColumns = Readonly<
  Record<string, "bigint" | "smallint" | "text" | "double precision" | "bytea">
>;
/** The target of written rows: the columns of a row, in its order, and which of them are the key. */
export interface BulkTable {
  table: TableName;
  columns: BulkColumns;
  key: readonly string[];
}

const SENT_AS = {
  integer: "bigint",
  ownId: "bigint",
  small: "smallint",
  real: "double precision",
  text: "text",
  bytes: "bytea",
  libraryTime: "text",
  libraryFlag: "bigint",
} as const;

/** The columns of a table, in their order. */
export function columnNames<N extends TableName>(table: N): (keyof Schema[N] & string)[] {
  return Object.keys(TABLES[table].columns) as (keyof Schema[N] & string)[];
}

/** A table, or some of its columns, to write many rows to. */
export function bulkOf<N extends TableName>(table: N, names = columnNames(table)): BulkTable {
  const { columns, key }: Table = TABLES[table];
  const types = names.map((name) => [name, SENT_AS[columns[name]?.type ?? "text"]] as const);
  return { table, columns: Object.fromEntries(types), key };
}
