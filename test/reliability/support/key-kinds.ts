import { ApiKeys } from "../../../src/accounts/api-keys.js";
import type { Database } from "../../../src/database/database.js";
import type { Clock } from "../../../src/lib/clock.js";
import { createToken, hashToken } from "../../../src/lib/tokens.js";
import { accountsContext, addAccount } from "../../support/accounts.js";

/** Kinds of keys that a caller may send. */
export const KINDS = ["known", "revoked", "unknown", "malformed"] as const;
export type Kind = (typeof KINDS)[number];

/** Keys of every kind, of which those that must be are in the database. */
export async function storeKeys(
  database: Database,
  { count, now }: { count: number; now: number },
): Promise<Record<Kind, string[]>> {
  const tokens = () => Array.from({ length: count }, () => createToken("sid"));
  const kinds = { known: tokens(), revoked: tokens(), unknown: tokens(), malformed: tokens() };
  kinds.malformed = kinds.malformed.map((token) => `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`);
  const accountId = await addAccount(database, "keys@example.org");
  const rowOf = (token: string) => ({
    account_id: accountId,
    name: "key",
    hash: hashToken(token),
    hint: token.slice(-4),
    created_at: now,
    last_used_at: now,
    revoked_at: null,
  });
  const rows = kinds.known.flatMap((known, i) => [rowOf(known), rowOf(kinds.revoked[i] ?? "")]);
  for (let i = 0; i < rows.length; i += 500)
    await database.durable
      .insertInto("api_keys")
      .values(rows.slice(i, i + 500))
      .execute();
  const keys = new ApiKeys(accountsContext(database, new ForgetfulClock()));
  const stored = await database.read.selectFrom("api_keys").select(["id", "hash"]).execute();
  const idOf = new Map(stored.map(({ id, hash }) => [hash, id]));
  for (const token of kinds.revoked) await keys.revoke(accountId, idOf.get(hashToken(token)) ?? 0);
  return kinds;
}

/** A clock on which nothing cached lasts until the next look, while the time of day stands still. */
export class ForgetfulClock implements Clock {
  #monotonic = 0;
  readonly #now = Date.UTC(2026, 3, 30, 12);

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    this.#monotonic += 100_000;
    return this.#monotonic;
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }
}
