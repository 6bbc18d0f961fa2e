import { sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import type { Db, Dialect, Tx } from "./dialect.js";
import { databaseFault, StoreRefused } from "./fault.js";
import type { Migration } from "./migration.js";
import { initial } from "./migrations/0001-initial.js";
import { blocks } from "./migrations/0002-blocks.js";
import { searchPostings } from "./migrations/0003-search-postings.js";
import { leaderboards } from "./migrations/0004-leaderboards.js";
import { searchAdditions } from "./migrations/0005-search-additions.js";
import { boundedWatchlists } from "./migrations/0006-bounded-watchlists.js";
import { trustedGrowth } from "./migrations/0007-trusted-growth.js";
import { forges } from "./migrations/0008-forges.js";
import { guardedAccounts } from "./migrations/0009-guarded-accounts.js";
import { usualDay } from "./migrations/0010-usual-day.js";
import { avatars } from "./migrations/0011-avatars.js";
import { forgeTokens } from "./migrations/0012-forge-tokens.js";
import { feedTokens } from "./migrations/0013-feed-tokens.js";
import { forgeStates } from "./migrations/0014-forge-states.js";
import { newDays } from "./migrations/0015-new-days.js";
import { supportedGrowth } from "./migrations/0016-supported-growth.js";
import { expressionStatistics } from "./migrations/0017-expression-statistics.js";
import { manualRenames } from "./migrations/0018-manual-renames.js";
import { ownedAvatars } from "./migrations/0019-owned-avatars.js";
import { returnedLevels } from "./migrations/0020-returned-levels.js";
import { hourlyUsage } from "./migrations/0021-hourly-usage.js";
import { accountEvents } from "./migrations/0022-account-events.js";
import { oneWorker } from "./migrations/0023-one-worker.js";

/** In order. The version of a database is the number of migrations it has had. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  blocks,
  searchPostings,
  leaderboards,
  searchAdditions,
  boundedWatchlists,
  trustedGrowth,
  forges,
  guardedAccounts,
  usualDay,
  avatars,
  forgeTokens,
  feedTokens,
  forgeStates,
  newDays,
  supportedGrowth,
  expressionStatistics,
  manualRenames,
  ownedAvatars,
  returnedLevels,
  hourlyUsage,
  accountEvents,
  oneWorker,
];

/** How long to wait for other processes that write. */
const PATIENCE_MS = 20_000;

/** The version of databases that this program reads and writes. */
export const LATEST_VERSION = MIGRATIONS.length;

export interface MigrateOptions {
  clock: Clock;
  migrations?: readonly Migration[];
}

/**
 * Applies the missing migrations in one transaction under a lock: processes that start at the same time do not collide, and
 * a crash leaves either the old schema or the new one. Throws for a database newer than this program.
 */
export async function migrate(
  db: Db,
  dialect: Dialect,
  { clock, migrations = MIGRATIONS }: MigrateOptions,
): Promise<void> {
  if ((await currentVersion(db)) === migrations.length) return;
  const until = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const isLast = clock.monotonic() >= until;
    try {
      return await dialect.exclusively(db, "migrate", (tx) => migrateIn(tx, dialect, { clock, migrations }));
    } catch (error) {
      if (isLast || databaseFault(error) !== "busy") throw error;
    }
  }
}

/** The same in a transaction of the caller. `to`: up to this version, default: all. */
export async function migrateIn(
  tx: Tx,
  dialect: Dialect,
  { clock, migrations = MIGRATIONS, to = migrations.length }: MigrateOptions & { to?: number },
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
  const version = rows[0]?.version ?? 0;
  if (version > migrations.length) throw new StoreRefused(newerThanProgram(version, migrations.length));
  for (const [i, migration] of migrations.entries()) {
    if (i < version || i >= to) continue;
    await migration.up(tx, dialect);
    await tx
      .insertInto("schema_version")
      .values({ version: i + 1, name: migration.name, applied_at: clock.now() })
      .execute();
  }
}

function newerThanProgram(version: number, known: number): string {
  return `The database is at version ${version}, made by a newer Sidereal; this one knows ${known}. Update the program, or restore a backup.`;
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
