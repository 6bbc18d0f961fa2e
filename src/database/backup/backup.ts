/** Backups of a store, on either engine: reading one, and restoring it. */
import { join } from "node:path";
import type { Clock } from "../../lib/clock.js";
import { LATEST_VERSION } from "../migrate.js";
import { SQLITE_FILE } from "../sqlite.js";
import {
  BackupRefused,
  type BackupSource,
  type RestoreOptions,
  type RestoreTarget,
  type StoreKind,
  type StoreLocation,
} from "./parts.js";
import { postgresSource, postgresTarget } from "./postgres-backup.js";
import { sqliteSource, sqliteTarget } from "./sqlite-backup.js";

/**
 * Opens the state that a store has now, to be read while others write. `workFile` is where a copy may be made, beside the backup.
 * Throws BackupRefused.
 */
export function openBackupSource(
  { url, dataDir }: StoreLocation,
  clock: Clock,
  workFile: string,
): Promise<BackupSource> {
  if (url !== undefined) return postgresSource(url, clock);
  if (dataDir === ":memory:") throw new BackupRefused("A database in memory cannot be backed up.");
  return sqliteSource(join(dataDir, SQLITE_FILE), workFile);
}

/** The files of a SQLite store, whether they are there or not; none of another store. */
export function sqliteFiles({ url, dataDir }: StoreLocation): string[] {
  if (url !== undefined || dataDir === ":memory:") return [];
  return ["", "-wal", "-shm", "-journal"].map((suffix) => join(dataDir, SQLITE_FILE + suffix));
}

/**
 * Prepares a store to be restored. Throws BackupRefused if one is there, or in use, and for a backup of the other engine or of a
 * newer version.
 */
export async function openRestoreTarget(
  { url, dataDir }: StoreLocation,
  clock: Clock,
  options: RestoreOptions,
): Promise<RestoreTarget> {
  refuseUnfit(options, url === undefined ? "sqlite" : "postgres");
  if (url !== undefined) return postgresTarget(url, clock, options);
  if (dataDir === ":memory:") throw new BackupRefused("A database in memory cannot be restored.");
  return sqliteTarget(join(dataDir, SQLITE_FILE), clock, options);
}

/** Names of the engines in messages. */
const ENGINES = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

function refuseUnfit({ kind, version }: RestoreOptions, wanted: StoreKind): void {
  if (kind !== wanted)
    throw new BackupRefused(
      `The backup was taken from ${ENGINES[kind]} and cannot be restored into ${ENGINES[wanted]}.`,
    );
  if (version > LATEST_VERSION)
    throw new BackupRefused(
      `The backup is of version ${version}, made by a newer Sidereal; this one knows ${LATEST_VERSION}. Update the program.`,
    );
}
