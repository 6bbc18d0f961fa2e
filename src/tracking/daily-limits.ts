/**
 * Daily limits: how many repositories of a forge may be recorded as lost, and how many its lists may add, in a day (UTC). Even two
 * endpoints can be wrong together, so a mass loss is recorded bit by bit, and repositories that come back in between are never
 * recorded as lost. A forge that is broken or hostile can list repositories without end; those beyond the limit are left out until a
 * list shows them on a later day. The counts are updated in the transaction that records losses and additions.
 */
import { sql } from "kysely";
import { newPerDayOf, type ProviderSettings } from "../config/config.js";
import { type Db, readNumber, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import type { Lane } from "./lane.js";
import { heldBack, type Update } from "./outcomes.js";
import type { Tracked } from "./schedule.js";

/**
 * Share of the available repositories of a forge that may be lost in a day. Of the 3,000 to 4,000 most popular repositories of
 * GitHub, 0.011 % vanish or are renamed a day, and 0.11 % did on the worst of 190 days.
 */
const MOST_SHARE = 0.002;
/** At least this number, or small catalogues could lose none. */
const LEAST_PER_DAY = 10;
/** Share of a batch that may be lost, and the least number, or a batch of one could lose none. */
const MOST_OF_BATCH = 0.5;
const LEAST_OF_BATCH = 3;

/** Counts losses in the transaction that records them, and holds back those that are too many for now; but nothing private. */
export async function limitLosses(
  tx: Tx,
  { provider: { name: provider }, reporter }: Pick<Lane, "provider" | "reporter">,
  { updates, at }: { updates: readonly Update[]; at: number },
): Promise<readonly Update[]> {
  const losses = updates.filter(
    ({ before, isLost, observation }) =>
      isLost && observation?.facts.availability !== "PRIVATE" && isLimited(before),
  );
  const left = await lossesLeft(tx, { provider, at, batch: updates.length });
  const held = new Set(losses.slice(left));
  const lost = losses.length - held.size;
  if (lost > 0)
    await sql`insert into lost_days (provider, day, lost) values (${provider}, ${dayOf(at)}, ${lost})
      on conflict (provider, day) do update set lost = lost_days.lost + excluded.lost`.execute(tx);
  reporter.add("held", held.size);
  return updates.map((update) => (held.has(update) ? heldBack(update, at) : update));
}

/** How many losses may be recorded now. `batch`: number of repositories that were refreshed together. */
export async function lossesLeft(
  db: Db,
  { provider, at, batch }: { provider: string; at: number; batch: number },
): Promise<number> {
  const available = sql`select count(*) from repositories
    where provider = ${provider} and availability = 'AVAILABLE'`;
  const perDay = Math.max(LEAST_PER_DAY, Math.floor((await readNumber(db, available)) * MOST_SHARE));
  const perBatch = Math.max(LEAST_OF_BATCH, Math.floor(batch * MOST_OF_BATCH));
  return Math.max(0, Math.min(perBatch, perDay - (await readLostToday(db, { provider, at }))));
}

/**
 * Whether the loss of a repository counts: all but names that were imported and never found. A repository whose id its forge has given
 * to another one has no id either, but counts as missing.
 */
export function isLimited({ providerId, importSource, detailedAt, missingSince }: Tracked): boolean {
  return providerId !== null || importSource === null || detailedAt !== null || missingSince !== null;
}

export async function readLostToday(
  db: Db,
  { provider, at }: { provider: string; at: number },
): Promise<number> {
  const row = await db
    .selectFrom("lost_days")
    .select("lost")
    .where("provider", "=", provider)
    .where("day", "=", dayOf(at))
    .executeTakeFirst();
  return row?.lost ?? 0;
}

/** New repositories on the lists of a day. */
interface NewToday {
  added: number;
  /** Rows beyond the limit; a repository counts each time a list shows it. */
  surplus: number;
}

export async function readNewToday(
  db: Db,
  { provider, at }: { provider: string; at: number },
): Promise<NewToday> {
  const row = await db
    .selectFrom("new_days")
    .select(["added", "surplus"])
    .where("provider", "=", provider)
    .where("day", "=", dayOf(at))
    .executeTakeFirst();
  return { added: Number(row?.added ?? 0), surplus: Number(row?.surplus ?? 0) };
}

/** Of `count` new repositories on a list, how many may be added in this transaction; counts these and the others. */
export async function admitNew(
  tx: Tx,
  { settings, at, count }: { settings: ProviderSettings; at: number; count: number },
): Promise<number> {
  if (count === 0) return 0;
  const provider = settings.name;
  const today = await readNewToday(tx, { provider, at });
  const added = Math.min(count, Math.max(0, newPerDayOf(settings) - today.added));
  await sql`insert into new_days (provider, day, added, surplus)
    values (${provider}, ${dayOf(at)}, ${added}, ${count - added})
    on conflict (provider, day) do update
    set added = new_days.added + excluded.added, surplus = new_days.surplus + excluded.surplus`.execute(tx);
  return added;
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
