import { sql } from "kysely";
import type { Database, Dialect, Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { markOutdated, noteChanges } from "../repositories/repositories.js";

const BATCH = 1_000;

/**
 * Ends tracking of providers that no worker has had for a day, except `configured`: without new readings their growth would look recent
 * forever. Their repositories leave the rankings; counts, due times and ids stay for a worker that has the provider again. Returns the
 * number of repositories.
 */
export async function untrackOthers(
  database: Database,
  { configured, now }: { configured: readonly string[]; now: number },
): Promise<number> {
  const { dialect, write } = database;
  let untracked = 0;
  for (const provider of await unattended(database, { configured, now })) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      const ids = await dialect.exclusively(write, "catalogue", (tx) =>
        untrackBatch(tx, dialect, { provider, from }),
      );
      untracked += ids.length;
      after = ids.at(-1);
    }
    // A stored walk marks a provider as tracked. After such a pause a walk starts over anyway.
    await write.deleteFrom("walks").where("provider", "=", provider).execute();
  }
  return untracked;
}

async function unattended(
  { read }: Database,
  { configured, now }: { configured: readonly string[]; now: number },
): Promise<string[]> {
  const walked = await read.selectFrom("walks").select("provider").execute();
  const reports = await read
    .selectFrom("worker_reports")
    .select("provider")
    .where("at", ">", now - DAY_MS)
    .execute();
  const attended = new Set([...configured, ...reports.map(({ provider }) => provider)]);
  return walked.map(({ provider }) => provider).filter((provider) => !attended.has(provider));
}

/** Returns the ids of changed repositories; none at the end. */
async function untrackBatch(
  tx: Tx,
  dialect: Dialect,
  { provider, from }: { provider: string; from: number },
): Promise<number[]> {
  const rows = await tx
    .selectFrom("repositories")
    .select("id")
    .where("provider", "=", provider)
    .where("refresh_interval", ">", 0)
    .where("id", ">", from)
    .orderBy("id")
    .limit(BATCH)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  // A report of an archive from before tracking is not the last reading.
  await tx
    .updateTable("repositories")
    .set({ refresh_interval: 0, import_source: null })
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  await markOutdated(tx, dialect, { rollups: ids });
  await noteChanges(tx, dialect, ids);
  return ids;
}
