/**
 * How many repositories of a forge may be recorded as lost. Even two endpoints can be wrong together, so a mass loss is recorded
 * bit by bit: those that come back meanwhile are never recorded. The counts are in the database, in the transaction that
 * records the losses, so that they hold for all workers and survive a restart.
 */
import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Db, Dialect, Tx } from "../database/database.js";

/**
 * Share of the available repositories of a forge that may be lost in a day (UTC). Of the 3,000 to 4,000 most popular
 * repositories of GitHub, 0.011 % vanish or are renamed a day, and 0.11 % did on the worst of 190 days.
 */
const MOST_SHARE = 0.002;
/** At least this number, or small catalogues could lose none. */
const LEAST_PER_DAY = 10;
/** Share of a batch that may be lost. */
const MOST_OF_BATCH = 0.5;
/** At least this number, or a batch of one could lose none. */
const LEAST_OF_BATCH = 3;

/** How many losses may be recorded now. `batch`: number of repositories that were refreshed with them. */
export async function lossesLeft(
  db: Db,
  { provider, at, batch }: { provider: string; at: number; batch: number },
): Promise<number> {
  const { available } = await db
    .selectFrom("repositories")
    .select(({ fn }) => fn.countAll().as("available"))
    .where("provider", "=", provider)
    .where("availability", "=", "AVAILABLE")
    .executeTakeFirstOrThrow();
  const day = await db
    .selectFrom("lost_days")
    .select("lost")
    .where("provider", "=", provider)
    .where("day", "=", dayOf(at))
    .executeTakeFirst();
  const perDay = Math.max(LEAST_PER_DAY, Math.floor(Number(available) * MOST_SHARE));
  const perBatch = Math.max(LEAST_OF_BATCH, Math.floor(batch * MOST_OF_BATCH));
  return Math.max(0, Math.min(perBatch, perDay - (day?.lost ?? 0)));
}

/**
 * Which of these repositories would be losses of ours: all but names that were imported and never found. A repository whose id
 * its forge has given to another one has no id either, but counts as missing.
 */
export async function limitedLosses(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom("repositories")
    .leftJoin("tracking", "tracking.repository_id", "repositories.id")
    .select("id")
    .where(dialect.among(sql.ref("id"), ids))
    .where(({ or, eb }) =>
      or([
        eb("provider_id", "is not", null),
        eb("import_source", "is", null),
        eb("detailed_at", "is not", null),
        eb("missing_since", "is not", null),
      ]),
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Counts losses that are recorded in this transaction. */
export async function countLosses(
  tx: Tx,
  { provider, at, lost }: { provider: string; at: number; lost: number },
): Promise<void> {
  if (lost === 0) return;
  await sql`insert into lost_days (provider, day, lost) values (${provider}, ${dayOf(at)}, ${lost})
    on conflict (provider, day) do update set lost = lost_days.lost + excluded.lost`.execute(tx);
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
