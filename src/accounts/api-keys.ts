import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { AppError } from "../errors.js";
import { createToken, hashToken, tokenPrefix } from "../tokens.js";
import { Forgetting, Held } from "./held.js";

/** Active keys that an account may have. */
export const MAX_KEYS = 5;
/** The last use of a key is written at most this often. */
const USE_MS = 60_000;

/** An active key as its owner sees it. */
export interface ApiKey {
  id: number;
  name: string;
  /** The last four characters. */
  hint: string;
  createdAt: number;
  /** To the minute; null: never. */
  lastUsedAt: number | null;
}

/** Who a key speaks for. */
export interface KeyHolder {
  keyId: number;
  accountId: string;
}

interface KnownKey extends KeyHolder {
  lastUsedAt: number | null;
}

/**
 * API keys. Only hashes are kept, so a key is told once. A revoked one is refused at once in this process, and at most
 * five seconds later in all others.
 */
export class ApiKeys {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #held: Held<KnownKey>;
  #noting: Promise<unknown> = Promise.resolve();

  /** Of keys, and of sessions by the accounts that are given these keys. */
  readonly forgetting = new Forgetting();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#held = new Held(clock, false);
    this.forgetting.add(() => this.#held.forget());
  }

  /** Makes a key; `secret` cannot be told again. Throws LIMIT_REACHED when the account has five active ones. */
  async create(accountId: string, name: string): Promise<{ key: ApiKey; secret: string }> {
    const secret = createToken("sid");
    const values = {
      account_id: accountId,
      name,
      hash: hashToken(secret),
      hint: secret.slice(-4),
      created_at: this.#clock.now(),
    };
    const { lockRow } = this.#database.dialect;
    const { id } = await this.#database.durable.transaction().execute(async (tx) => {
      // All creations for one account wait for each other here, or each would count without the others.
      const account = await sql`select id from accounts where id = ${accountId} ${lockRow}`.execute(tx);
      if (account.rows.length === 0) throw new AppError("UNAUTHENTICATED", "The account is gone.");
      const active = await tx
        .selectFrom("api_keys")
        .select("id")
        .where("account_id", "=", accountId)
        .where("revoked_at", "is", null)
        .execute();
      if (active.length >= MAX_KEYS) {
        throw new AppError(
          "LIMIT_REACHED",
          `An account has at most ${MAX_KEYS} active keys; revoke one to make another.`,
        );
      }
      return tx.insertInto("api_keys").values(values).returning("id").executeTakeFirstOrThrow();
    });
    const { hint, created_at: createdAt } = values;
    return { key: { id, name, hint, createdAt, lastUsedAt: null }, secret };
  }

  /** The active keys of an account, oldest first. */
  async list(accountId: string): Promise<ApiKey[]> {
    const rows = await this.#database.read
      .selectFrom("api_keys")
      .select(["id", "name", "hint", "created_at as createdAt", "last_used_at as lastUsedAt"])
      .where("account_id", "=", accountId)
      .where("revoked_at", "is", null)
      .orderBy("id")
      .execute();
    return rows.map((row) => ({ ...row }));
  }

  /** Ends a key for good; one that has ended stays so. Throws NOT_FOUND for one that the account does not have. */
  async revoke(accountId: string, keyId: number): Promise<void> {
    const known = await this.#database.durable.transaction().execute(async (tx) => {
      const revoked = await tx
        .updateTable("api_keys")
        .set((eb) => ({ revoked_at: eb.fn.coalesce("revoked_at", eb.val(this.#clock.now())) }))
        .where("id", "=", keyId)
        .where("account_id", "=", accountId)
        .returning("id")
        .execute();
      return revoked.length > 0;
    });
    this.forget();
    if (!known) throw new AppError("NOT_FOUND", "There is no such key.");
  }

  /** Who the key speaks for; undefined for one that is malformed, unknown or revoked. */
  async find(secret: string): Promise<KeyHolder | undefined> {
    if (tokenPrefix(secret) !== "sid") return undefined;
    const hash = hashToken(secret);
    const found = await this.#held.find(hash, () => this.#read(hash));
    if (found === undefined) return undefined;
    this.#noteUse(found);
    return { keyId: found.keyId, accountId: found.accountId };
  }

  /** Looks at the database again for every key and session from now on, as after an account has gone. */
  forget(): void {
    this.forgetting.forget();
  }

  /** Ends when the uses noted so far are written. */
  async settle(): Promise<void> {
    await this.#noting;
  }

  async #read(hash: string): Promise<KnownKey | undefined> {
    const row = await this.#database.read
      .selectFrom("api_keys")
      .select(["id as keyId", "account_id as accountId", "last_used_at as lastUsedAt"])
      .where("hash", "=", hash)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    return row && { ...row };
  }

  /** Nobody waits for this: a note that is lost is made again with the next use. */
  #noteUse(held: KnownKey): void {
    const now = this.#clock.now();
    if (held.lastUsedAt !== null && now - held.lastUsedAt < USE_MS) return;
    held.lastUsedAt = now;
    const write = async () => {
      await this.#database.write
        .updateTable("api_keys")
        .set({ last_used_at: now })
        .where("id", "=", held.keyId)
        .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<=", now - USE_MS)]))
        .execute();
    };
    this.#noting = this.#noting.then(write).catch(() => {
      held.lastUsedAt = null;
    });
  }
}
