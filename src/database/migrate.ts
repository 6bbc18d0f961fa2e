import { sql } from "kysely";
import type { Db, Dialect, Tx } from "./dialect.js";
import { catalogue } from "./migrations/0001-catalogue.js";
import { scores } from "./migrations/0002-scores.js";
import { growth } from "./migrations/0003-growth.js";
import { tracking } from "./migrations/0004-tracking.js";
import { accounts } from "./migrations/0005-accounts.js";
import { usage } from "./migrations/0006-usage.js";

/** One step forward. Steps are never changed once released, and there is no way back. */
export interface Migration {
  name: string;
  up(tx: Tx, dialect: Dialect): Promise<void>;
}

/** In order; the version of a database is how many of these it has had. */
const MIGRATIONS: readonly Migration[] = [catalogue, scores, growth, tracking, accounts, usage];

/**
 * Brings the tables up to date in one transaction under a lock, so that two starting processes do not collide and a
 * crash leaves either the old tables or the new ones. A database newer than this program is refused.
 */
export async function migrate(db: Db, dialect: Dialect, migrations = MIGRATIONS): Promise<void> {
  if ((await presentVersion(db)) === migrations.length) return;
  await dialect.exclusively(db, "migrate", async (tx) => {
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
    if (version > migrations.length) {
      throw new Error(
        `The database is at version ${version}, made by a newer Sidereal; this one knows ${migrations.length}. Update the program, or restore a backup.`,
      );
    }
    for (const [i, migration] of migrations.entries()) {
      if (i < version) continue;
      await migration.up(tx, dialect);
      await tx
        .insertInto("schema_version")
        .values({ version: i + 1, name: migration.name, applied_at: Date.now() })
        .execute();
    }
  });
}

/** The version, read without the lock, as another process may hold it for long; 0 where there are no tables yet. */
async function presentVersion(db: Db): Promise<number> {
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
