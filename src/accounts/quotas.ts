/**
 * What callers may cause in a day. Its counts, and those of mails, are in the database, shared by all processes, under names that nobody
 * without the secret of the service can trace.
 */
import { createHmac } from "node:crypto";
import type { Db, Tx } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { readSecret, type SecretPlace } from "./secret.js";

/** What is counted by caller and day (UTC): its name in the store and in errors, and in a sentence. */
const COUNTED = {
  lists: ["watchlists", "watchlists may be created"],
  items: ["watchlist_items", "repositories may be added to watchlists"],
  tracked: ["track_requests", "repositories may be requested"],
} as const;
type CountedDaily = keyof typeof COUNTED;

/** Who adds something, and how much of each kind that caller may add in a day (UTC). */
export interface Adding<Kind extends CountedDaily = CountedDaily> {
  /** The caller, and wider groups of callers that share a multiple of the quota. */
  holders: readonly { name: string; factor: number }[];
  quota: Readonly<Record<Kind, number>>;
}

/** Counts what callers add in a day. */
export class DailyQuotas {
  /** `place`: where the secret is that hides the names of callers; read when a quota is first counted. */
  constructor(private readonly place: SecretPlace) {}

  /**
   * A function that counts an addition of a caller, in the transaction that adds it: what is rolled back does not count. It throws
   * RATE_LIMITED if the addition does not fit. Call it after locking a list, so that all callers take locks in one order. `adding`:
   * undefined: without a quota. Reads the secret, so call this before the transaction.
   */
  async counterOf<Kind extends CountedDaily>(adding: Adding<Kind> | undefined) {
    const secret = adding && (await readSecret(this.place));
    return async (tx: Tx, { kind, amount, now }: { kind: Kind; amount: number; now: number }) => {
      if (adding === undefined || secret === undefined || amount === 0) return;
      const [quota, words] = COUNTED[kind];
      const endsAt = endOf(DAY_MS, now);
      for (const { name, factor } of adding.holders) {
        const limit = adding.quota[kind] * factor;
        const used = await addUse(tx, { quota, endsAt, holder: hidden(secret, endsAt, name) }, amount);
        if (used > limit) throw exceeded(quota, `at most ${limit} ${words}`, endsAt - now);
      }
    };
  }
}

function exceeded(quota: string, most: string, waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `${most} in a day (UTC); try again in ${seconds} s`;
  return new AppError("RATE_LIMITED", `Daily quota exceeded: ${message}.`, {
    details: [{ parameter: "quota", message, values: [quota] }],
    headers: { "Retry-After": String(seconds) },
  });
}

/** Deletes counts that no limit needs. */
export async function removeEndedUse(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom("quota_use")
    .where("ends_at", "<=", now - HOUR_MS)
    .execute();
}

export function endOf(periodMs: number, now: number): number {
  return (Math.floor(now / periodMs) + 1) * periodMs;
}

export function hidden(secret: string, endsAt: number, name: string): string {
  return createHmac("sha256", secret).update(`quota ${endsAt} ${name}`).digest("hex");
}

/** Returns the new count. */
export async function addUse(
  db: Db | Tx,
  row: { quota: string; holder: string; endsAt: number },
  amount: number,
): Promise<number> {
  const { quota, holder, endsAt: ends_at } = row;
  const { used } = await db
    .insertInto("quota_use")
    .values({ quota, holder, ends_at, used: amount })
    .onConflict((conflict) =>
      conflict
        .columns(["quota", "holder", "ends_at"])
        .doUpdateSet(({ eb }) => ({ used: eb("quota_use.used", "+", amount) })),
    )
    .returning("used")
    .executeTakeFirstOrThrow();
  return used;
}
