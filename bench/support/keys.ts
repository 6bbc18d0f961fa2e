import { sql } from "kysely";
import { createToken, hashToken } from "../../src/lib/tokens.js";
import { limits } from "../../test/support/limits.js";
import { openStore, type Store } from "./stores.js";

/** Settings that raise every limit so far that no request of a benchmark is refused, while all of them are counted. */
export const GENEROUS_LIMITS: Readonly<Record<string, string>> = {
  ...limits(),
};

/** Adds an account with one API key for each of `count`, and returns the keys. The store must be a copy. */
export async function addKeys(
  store: Pick<Store, "engine" | "url" | "dataDir">,
  count: number,
): Promise<string[]> {
  const { database } = await openStore(store);
  const keys: string[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const now = Date.now();
      const [id, key, time] = [`bench-${now}-${i}`, createToken("sid"), new Date(now).toISOString()];
      await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
        values (${id}, '', ${`${id}@example.org`}, ${store.engine === "postgres" ? true : 1}, ${time}, ${time})`.execute(
        database.durable,
      );
      await sql`insert into api_keys (account_id, name, hash, hint, created_at)
        values (${id}, 'bench', ${hashToken(key)}, ${key.slice(-4)}, ${now})`.execute(database.durable);
      keys.push(key);
    }
  } finally {
    await database.close();
  }
  return keys;
}
