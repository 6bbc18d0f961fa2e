import { sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import { type Db, type Dialect, newStoreName, type Tx } from "./dialect.js";
import { DatabaseFault, databaseFault, StoreRefused } from "./fault.js";
import { schemaOf } from "./schema/schema.js";

/** The version of the schema before any migration, and the oldest that can be upgraded. */
export const FIRST_VERSION = 38;
/** In order: the first one upgrades a store of FIRST_VERSION to the next version. */
const MIGRATIONS: readonly Migration[] = [
  {
    name: "days of growth",
    async up(tx, { types }) {
      await sql`alter table rollups add column days ${types.text}`.execute(tx);
      // So that all growth is computed again.
      await sql`delete from status_documents where name = 'growth_sweep'`.execute(tx);
    },
  },
  {
    name: "hidden repositories",
    async up(tx, { types, clustered }) {
      await sql`create table hiding_rules (id ${types.ownId} not null, provider ${types.text} not null,
        name_key ${types.text} not null, is_prefix ${types.small} not null, target ${types.text} not null,
        reason ${types.text} not null, note ${types.text}, made_by ${types.text} not null,
        hidden_at ${types.integer} not null, ends_at ${types.integer},
        primary key (id), unique (provider, name_key, is_prefix))`.execute(tx);
      await sql`create table hidden_repositories (repository_id ${types.integer} not null,
        rule_id ${types.integer} not null references hiding_rules (id), availability ${types.text} not null,
        primary key (repository_id, rule_id)) ${clustered}`.execute(tx);
      await sql`create index hidden_repositories_rule on hidden_repositories (rule_id)`.execute(tx);
    },
  },
  {
    name: "bans",
    async up(tx, { types }) {
      await sql`create table bans (id ${types.ownId} not null, account_id ${types.text}
        references accounts (id) on delete cascade, network ${types.text}, reason ${types.text} not null,
        banned_at ${types.integer} not null, ends_at ${types.integer}, primary key (id), unique (account_id),
        unique (network), check ((account_id is null) <> (network is null)))`.execute(tx);
    },
  },
  {
    name: "imports",
    async up(tx, { types: { ownId, integer, text, bytes }, clustered }) {
      await sql`create table imports (id ${ownId} not null, began_at ${integer} not null, ended_at ${integer},
        imported_by ${text} not null, files ${text} not null, file_count ${integer} not null,
        sources ${text} not null, row_count ${integer} not null, repositories ${integer} not null,
        readings ${integer} not null, replaced ${integer} not null, from_at ${integer}, until_at ${integer},
        undo_began_at ${integer}, undone_at ${integer}, primary key (id))`.execute(tx);
      await sql`create index imports_began on imports (began_at)`.execute(tx);
      await sql`create table import_lists (import_id ${integer} not null references imports (id),
        part ${integer} not null, from_at ${integer} not null, until_at ${integer} not null,
        entries ${integer} not null, data ${bytes} not null, primary key (import_id, part)) ${clustered}`.execute(
        tx,
      );
      await sql`create table imported_files (import_id ${integer} not null references imports (id),
        source ${text} not null, captured_at ${integer} not null, file ${text} not null,
        primary key (import_id, source, captured_at, file)) ${clustered}`.execute(tx);
    },
  },
];
/** The version of stores that this program reads and writes. */
export const LATEST_VERSION = FIRST_VERSION + MIGRATIONS.length;

/** How long to wait for other processes that write. */
const PATIENCE_MS = 20_000;

/**
 * Creates the schema in an empty database, or brings an older store up to date, in one transaction under a lock: processes that start
 * at the same time do not collide, and a crash leaves either the old schema or the new one. Throws StoreRefused for a store that is
 * older than the first version or newer than this program; without `upgrades`, for any older one.
 */
export async function migrate(
  db: Db,
  dialect: Dialect,
  { clock, upgrades = true }: { clock: Clock; upgrades?: boolean },
): Promise<void> {
  const version = await currentVersion(db);
  if (version === LATEST_VERSION) return;
  if (version > LATEST_VERSION) throw new StoreRefused(newerThanProgram(version));
  if (version > 0 && !upgrades) throw new StoreRefused(olderThanProgram(version));
  const until = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const isLast = clock.monotonic() >= until;
    try {
      return await dialect.exclusively(db, "migrate", (tx) => migrateIn(tx, dialect, { clock }));
    } catch (error) {
      if (isLast || databaseFault(error) !== "busy") throw error;
    }
  }
}

/** The version of a store, 0 without one, and the steps that bring it up to date. */
export interface MigrationState {
  version: number;
  steps: { version: number; name: string }[];
}

/** Changes nothing. Throws StoreRefused for a store that `migrate` refuses. */
export async function readMigrations(db: Db, dialect: Dialect): Promise<MigrationState> {
  const isNew = !(await dialect.tables(db)).includes("schema_version");
  const version = isNew ? 0 : await currentVersion(db);
  if (version > LATEST_VERSION) throw new StoreRefused(newerThanProgram(version));
  if (version > 0 && version < FIRST_VERSION) throw new StoreRefused(tooOld(version));
  const names = ["schema", ...MIGRATIONS.map(({ name }) => name)];
  const steps = names.map((name, i) => ({ version: FIRST_VERSION + i, name }));
  return { version, steps: steps.filter((step) => step.version > version) };
}

/** Migrates in the transaction of the caller. `to`: up to this version; default: the latest. */
export async function migrateIn(
  tx: Tx,
  dialect: Dialect,
  { clock, to = LATEST_VERSION }: { clock: Clock; to?: number },
): Promise<void> {
  const { steps } = await readMigrations(tx, dialect);
  for (const { version, name } of steps.filter((step) => step.version <= to)) {
    if (version === FIRST_VERSION)
      for (const statement of schemaOf(dialect, newStoreName())) await statement.execute(tx);
    else await MIGRATIONS[version - FIRST_VERSION - 1]?.up(tx, dialect);
    await tx.insertInto("schema_version").values({ version, name, applied_at: clock.now() }).execute();
  }
}

function newerThanProgram(version: number): string {
  return `The database is at version ${version}, made by a newer Sidereal; this one knows ${LATEST_VERSION}. Update the program, or restore a backup.`;
}

function olderThanProgram(version: number): string {
  if (version < FIRST_VERSION) return tooOld(version);
  return `The database is at version ${version}, and this Sidereal needs version ${LATEST_VERSION}. Run "sidereal migrate", or use the Sidereal that made it.`;
}

/** Throws DatabaseFault if an open store has another version by now, as another program has migrated or replaced it. */
export function checkVersion(version: number): void {
  if (version === LATEST_VERSION) return;
  const words = version > LATEST_VERSION ? newerThanProgram(version) : olderThanProgram(version);
  throw new DatabaseFault("unavailable", new StoreRefused(words));
}

function tooOld(version: number): string {
  return `The database is at version ${version}, and this Sidereal needs version ${FIRST_VERSION} or later. Export it with the Sidereal that made it, and import the file into a new database.`;
}

/** The version, read without the lock, which another process may hold for long; 0 for an empty database. */
export async function currentVersion(db: Db): Promise<number> {
  try {
    const row = await db
      .selectFrom("schema_version")
      .select(({ fn }) => fn.max("version").as("version"))
      .executeTakeFirst();
    return row?.version ?? 0;
  } catch {
    return 0;
  }
}

/**
 * One step from a database version to the next. Once released, a migration never changes and is never removed, and there is
 * no way back. It imports nothing that may change later: its SQL is written out, even where live code creates the same table.
 */
export interface Migration {
  name: string;
  up(tx: Tx, engine: MigrationEngine): Promise<void>;
}

/** The parts of a dialect that a migration may use. They keep their meaning forever, as released migrations rely on it. */
type MigrationEngine = Pick<Dialect, "engine" | "types" | "clustered">;
