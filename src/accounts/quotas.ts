/**
 * Daily quotas of callers. Its counts, and those of mails, are in the database, shared by all processes, under names that nobody
 * without the secret of the service can trace.
 */
import { createHmac } from "node:crypto";
import type { Db, Tx } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { readSecret, type SecretPlace } from "./secret.js";

/** A count by caller and day (UTC): its name in the store and in errors, and in a sentence. */
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

interface Addition<Kind> {
  kind: Kind;
  amount: number;
  /** The units that have to fit. */
  least?: number;
  now: number;
}

/** Counts additions of callers by day, and remembers requests that they may repeat. */
export class DailyQuotas {
  /** `place`: the place of the secret that hides the names of callers; read when a quota is first counted. */
  constructor(private readonly place: SecretPlace) {}

  /**
   * Makes a request repeatable: `seeds`, secrets for the things that it creates if it is new, or created yesterday if it is a
   * repeat; and `remember`, to be called in the transaction that creates it, so that the quotas of what is created bound what is
   * remembered. `remember` returns whether it is a repeat, and throws IDEMPOTENCY_KEY_REUSED if the caller has sent the key with another
   * body. Bodies are remembered until the next day (UTC) ends, as digests; then the key is new, and so are its secrets.
   */
  async repeatable({ caller, key, body }: Repeatable, now: number) {
    const secret = await readSecret(this.place);
    const digest = createHmac("sha256", secret).update(JSON.stringify(body)).digest("hex");
    const holder = hidden(secret, 0, JSON.stringify([caller, key]));
    const used = Number.parseInt(digest.slice(0, BODY_BITS / 4), 16);
    const today = endOf(DAY_MS, now);
    const row = { quota: IDEMPOTENCY, holder, ends_at: today + DAY_MS, used };
    const remember = async (tx: Tx): Promise<boolean> => {
      const added = await tx
        .insertInto("quota_use")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning("used")
        .execute();
      const known = await tx
        .selectFrom("quota_use")
        .select("used")
        .where("quota", "=", IDEMPOTENCY)
        .where("holder", "=", holder)
        .where("ends_at", ">", now)
        .execute();
      if (known.some((one) => one.used !== used))
        throw new AppError(
          "IDEMPOTENCY_KEY_REUSED",
          "This Idempotency-Key was sent before with another body.",
        );
      return known.length > added.length;
    };
    const seedOf = (day: number) => hidden(secret, day, `${holder} ${digest}`);
    return { seeds: [seedOf(today), seedOf(today - DAY_MS)] as const, remember };
  }

  /**
   * A function that counts an addition of a caller, in the transaction that adds it: rolled-back additions do not count. It returns how
   * much of it fits, and throws RATE_LIMITED if that is less than `least`, by default all. Call it after locking a list, so that all callers
   * take locks in one order. `adding`: undefined: without a quota. Reads the secret, so call this before the transaction.
   */
  async counterOf<Kind extends CountedDaily>(adding: Adding<Kind> | undefined) {
    const secret = adding && (await readSecret(this.place));
    return async (tx: Tx, { kind, amount, least = amount, now }: Addition<Kind>): Promise<number> => {
      if (adding === undefined || secret === undefined || amount === 0) return amount;
      const [quota, words] = COUNTED[kind];
      const endsAt = endOf(DAY_MS, now);
      let fits = amount;
      const rows = adding.holders.map(({ name, factor }) => {
        return {
          limit: adding.quota[kind] * factor,
          row: { quota, endsAt, holder: hidden(secret, endsAt, name) },
        };
      });
      for (const { limit, row } of rows) {
        fits = Math.min(fits, amount - ((await addUse(tx, row, amount)) - limit));
        if (fits < least) throw exceeded(quota, `at most ${limit} ${words}`, endsAt - now);
      }
      if (fits < amount) for (const { row } of rows) await addUse(tx, row, fits - amount);
      return fits;
    };
  }
}

/** A request that may be a repeat of an earlier one. */
export interface Repeatable {
  /** Who sends it: nobody else can repeat it. */
  caller: string;
  /** Its Idempotency-Key. */
  key: string;
  body: unknown;
}

const IDEMPOTENCY = "idempotency";
/** Bits of the digest of a body that are compared. */
const BODY_BITS = 48;

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
