import { createHmac } from "node:crypto";
import type { Db, Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";

/** What is counted by caller and day (UTC): its name in the store and in errors, and in a sentence. */
const COUNTED = {
  lists: ["watchlists", "watchlists may be created"],
  items: ["watchlist_items", "repositories may be added to watchlists"],
  tracked: ["track_requests", "repositories may be requested"],
} as const;
export type CountedDaily = keyof typeof COUNTED;

/** Who adds something, and how much of each kind that caller may add in a day (UTC). */
export interface Adding<Kind extends CountedDaily = CountedDaily> {
  /** The caller, and wider groups of callers that share a multiple of the quota. */
  holders: readonly { name: string; factor: number }[];
  quota: Readonly<Record<Kind, number>>;
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS);

/** What is counted at one time. */
export interface Addition<Kind extends CountedDaily> {
  kind: Kind;
  amount: number;
  now: number;
}

/**
 * Counts an addition against the quotas of a caller, in the transaction that adds it: what is rolled back does not count, and
 * processes share the counts. Throws RATE_LIMITED if it does not fit. Call it after locking a list, so that all callers take locks
 * in one order.
 */
export type CountDaily<Kind extends CountedDaily> = (tx: Tx, addition: Addition<Kind>) => Promise<void>;

/** Counts what callers add in a day, under names that nobody without the secret of the service can trace to them. */
export class DailyQuotas {
  readonly #readSecret: () => Promise<string>;
  #secret: string | undefined;

  constructor(readSecret: () => Promise<string>) {
    this.#readSecret = readSecret;
  }

  /** Counts for one caller; undefined: does not count. Reads the secret, so call it before the transaction. */
  async counterOf<Kind extends CountedDaily>(adding: Adding<Kind> | undefined): Promise<CountDaily<Kind>> {
    if (adding === undefined) return async () => {};
    this.#secret ??= await this.#readSecret();
    const secret = this.#secret;
    return (tx, addition) => countDaily(tx, { ...adding, secret }, addition);
  }
}

async function countDaily<Kind extends CountedDaily>(
  tx: Tx,
  { holders, quota, secret }: Adding<Kind> & { secret: string },
  { kind, amount, now }: Addition<Kind>,
): Promise<void> {
  if (amount === 0) return;
  const day = dayOf(now);
  for (const { name, factor } of holders) {
    const limit = quota[kind] * factor;
    const caller = createHmac("sha256", secret).update(`daily use ${day} ${name}`).digest("hex");
    const { used } = await tx
      .insertInto("daily_use")
      .values({ day, quota: COUNTED[kind][0], caller, used: amount })
      .onConflict((conflict) =>
        conflict
          .columns(["day", "quota", "caller"])
          .doUpdateSet(({ eb }) => ({ used: eb("daily_use.used", "+", amount) })),
      )
      .returning("used")
      .executeTakeFirstOrThrow();
    if (used > limit) throw refusal(kind, limit, now);
  }
}

function refusal(kind: CountedDaily, limit: number, now: number): AppError {
  const retryAfterSeconds = Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1_000);
  const message = `at most ${limit} ${COUNTED[kind][1]} in a day (UTC); try again in ${retryAfterSeconds} s`;
  return new AppError("RATE_LIMITED", `Daily quota exceeded: ${message}.`, {
    details: [{ parameter: "quota", message, values: [COUNTED[kind][0]] }],
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}

/** Deletes what was counted on earlier days. */
export async function forgetEarlierDays(db: Db, now: number): Promise<void> {
  await db.deleteFrom("daily_use").where("day", "<", dayOf(now)).execute();
}
