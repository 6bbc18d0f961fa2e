import { sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import type { Db, Dialect, Tx } from "./dialect.js";
import { DatabaseFault, databaseFault, StoreRefused } from "./fault.js";
import type { Migration } from "./migration.js";
import { adoption } from "./migrations/0018-0024-adoption.js";
import { schema } from "./migrations/0024-schema.js";
import { ownClocks } from "./migrations/0025-own-clocks.js";
import { surprise } from "./migrations/0026-surprise.js";
import { changeLog } from "./migrations/0027-change-log.js";
import { trackQuestions } from "./migrations/0028-track-questions.js";
import { leftOutNames } from "./migrations/0029-left-out-names.js";
import { factTimes } from "./migrations/0030-fact-times.js";
import { storeIdentity } from "./migrations/0031-store-identity.js";
import { growthInOneWay } from "./migrations/0032-growth-in-one-way.js";
import { waitingRows } from "./migrations/0033-waiting-rows.js";
import { removedRepositories } from "./migrations/0034-removed-repositories.js";
import { joinedItems } from "./migrations/0035-joined-items.js";

/** The version of the schema that a new store gets. */
export const SCHEMA_VERSION = 24;
/** The oldest version of stores that are brought up to date. */
const OLDEST_VERSION = 17;
/** In order: the first brings a store of the oldest version to the one after it. A new store gets those after its schema. */
const MIGRATIONS: readonly Migration[] = [
  ...adoption,
  ownClocks,
  surprise,
  changeLog,
  trackQuestions,
  leftOutNames,
  factTimes,
  storeIdentity,
  growthInOneWay,
  waitingRows,
  removedRepositories,
  joinedItems,
];
/** The version of stores that this program reads and writes. */
export const LATEST_VERSION = OLDEST_VERSION + MIGRATIONS.length;

/** How long to wait for other processes that write. */
const PATIENCE_MS = 20_000;

/**
 * Creates the schema in an empty database, or brings an older store up to date, in one transaction under a lock: processes that start
 * at the same time do not collide, and a crash leaves either the old schema or the new one. Throws StoreRefused for a store that is
 * older than version 17 or newer than this program, and unless it `upgrades` for any that is older.
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

/** The same in a transaction of the caller. `to`: up to this version, from that of the schema on; default: the latest. */
export async function migrateIn(
  tx: Tx,
  dialect: Dialect,
  { clock, to = LATEST_VERSION }: { clock: Clock; to?: number },
): Promise<void> {
  const { integer, text } = dialect.types;
  await sql`create table if not exists schema_version (version ${integer} primary key, name ${text} not null,
    applied_at ${integer} not null)`.execute(tx);
  const rows = await tx
    .selectFrom("schema_version")
    .select("version")
    .orderBy("version", "desc")
    .limit(1)
    .execute();
  const apply = async (version: number, migration: Migration) => {
    await migration.up(tx, dialect);
    const row = { version, name: migration.name, applied_at: clock.now() };
    await tx.insertInto("schema_version").values(row).execute();
  };
  const version = rows[0]?.version ?? SCHEMA_VERSION;
  if (rows.length === 0) await apply(version, schema);
  if (version > LATEST_VERSION) throw new StoreRefused(newerThanProgram(version));
  if (version < OLDEST_VERSION) throw new StoreRefused(tooOld(version));
  for (const [i, migration] of MIGRATIONS.entries()) {
    const next = OLDEST_VERSION + i + 1;
    if (next > version && next <= to) await apply(next, migration);
  }
}

function newerThanProgram(version: number): string {
  return `The database is at version ${version}, made by a newer Sidereal; this one knows ${LATEST_VERSION}. Update the program, or restore a backup.`;
}

function olderThanProgram(version: number): string {
  return `The database is at version ${version}, and this Sidereal needs version ${LATEST_VERSION}. Start the service with it, which brings the database up to date, or use the Sidereal that made it.`;
}

/** Throws DatabaseFault if a store that was opened has another version by now: another program has migrated it, or replaced it. */
export function checkVersion(version: number): void {
  if (version === LATEST_VERSION) return;
  const words = version > LATEST_VERSION ? newerThanProgram(version) : olderThanProgram(version);
  throw new DatabaseFault("unavailable", new StoreRefused(words));
}

function tooOld(version: number): string {
  return `The database is at version ${version}, and this Sidereal needs version ${OLDEST_VERSION} or later. Export it with the Sidereal that made it, and import the file into a new database.`;
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
