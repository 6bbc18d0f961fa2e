import { sql } from "kysely";
import { type Db, deleteOld, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import type { AccountsContext } from "./context.js";
import { TtlCache } from "./ttl-cache.js";

/** Maximum number of active keys per account. */
export const MAX_KEYS = 5;
/** The latest keys of an account that are listed with revoked ones. */
const MAX_LISTED = 500;
/** How long a revoked key is kept: as long as its usage. */
const REVOKED_KEPT_MS = 91 * DAY_MS;
/** The last use of a key is written at most this often. */
const WRITE_INTERVAL_MS = 60_000;

/** A key as its owner sees it. */
export interface ApiKey {
  id: number;
  name: string;
  /** The last four characters. */
  hint: string;
  createdAt: number;
  /** To the minute; null: never. */
  lastUsedAt: number | null;
  /** When it expires, or was revoked or expired; null: it is active until it is revoked. */
  endsAt: number | null;
}

/** Whom a key belongs to. */
export interface KeyHolder {
  readonly keyId: number;
  readonly accountId: string;
  readonly endsAt: number | null;
  lastUsedAt: number | null;
}

/**
 * API keys. Only hashes are stored, so a key is shown once. A revoked key is refused immediately in this process and in all that receive
 * its message, and within five seconds in others.
 */
export class ApiKeys {
  readonly #cache: TtlCache<KeyHolder>;

  constructor(private readonly context: AccountsContext) {
    this.#cache = new TtlCache(context.clock, context.revocations);
  }

  /**
   * Creates a key, until `endsAt` if it has one; `secret` cannot be read again later. Throws LIMIT_REACHED when the account has five
   * active keys, and VALIDATION_FAILED for a time that has passed.
   */
  async create(
    accountId: string,
    name: string,
    endsAt: number | null = null,
  ): Promise<{ key: ApiKey; secret: string }> {
    const now = this.context.clock.now();
    if (endsAt !== null && endsAt <= now) throw invalidParameter("expiresAt", "must be in the future");
    const secret = createToken("sid");
    const { dialect, durable } = this.context.database;
    const hint = secret.slice(-4);
    const made = { hash: hashToken(secret), hint, created_at: now, revoked_at: endsAt };
    const { id } = await durable.transaction().execute(async (tx) => {
      // Lock the account, so that concurrent calls do not each count without the others' keys.
      const account = await sql`select id from accounts where id = ${accountId} ${dialect.lockRow}`.execute(
        tx,
      );
      if (account.rows.length === 0) throw new AppError("UNAUTHENTICATED", "The account is gone.");
      const active = await keysOf(tx, accountId).where(isActive(now)).execute();
      if (active.length >= MAX_KEYS)
        throw new AppError(
          "LIMIT_REACHED",
          `An account has at most ${MAX_KEYS} active keys; revoke one to make another.`,
        );
      const values = { account_id: accountId, name, ...made };
      return tx.insertInto("api_keys").values(values).returning("id").executeTakeFirstOrThrow();
    });
    return { key: { id, name, hint, createdAt: now, lastUsedAt: null, endsAt }, secret };
  }

  /** The active keys of an account, oldest first. */
  list(accountId: string): Promise<ApiKey[]> {
    return keysOf(this.context.database.read, accountId)
      .where(isActive(this.context.clock.now()))
      .orderBy("id")
      .execute();
  }

  /** The latest keys of an account, oldest first: those that ended as long as their usage. */
  async listAll(accountId: string): Promise<ApiKey[]> {
    const latest = keysOf(this.context.database.read, accountId).orderBy("id", "desc").limit(MAX_LISTED);
    return (await latest.execute()).toReversed();
  }

  /** Deletes keys that ended so long before `now` that their usage is gone too. Returns their number. */
  removeRevoked(now: number): Promise<number> {
    const before = now - REVOKED_KEPT_MS;
    return deleteOld(this.context.database.durable, { table: "api_keys", column: "revoked_at", before });
  }

  /** Revokes a key. Returns false if it had ended before. Throws NOT_FOUND for a key of another account, or of none. */
  async revoke(accountId: string, keyId: number): Promise<boolean> {
    const { durable } = this.context.database;
    const now = this.context.clock.now();
    const { numUpdatedRows } = await durable
      .updateTable("api_keys")
      // Without its hash it is treated like a key that never existed, and refused in the same time.
      .set({ revoked_at: now, hash: sql<string>`'revoked ' || cast(id as text)` })
      .where("id", "=", keyId)
      .where("account_id", "=", accountId)
      .where(isActive(now))
      .executeTakeFirstOrThrow();
    // Only if it was active, as this discards all cached keys and sessions.
    if (numUpdatedRows > 0n) await this.context.revocations.announce();
    else if ((await keysOf(durable, accountId).where("id", "=", keyId).executeTakeFirst()) === undefined)
      throw new AppError("NOT_FOUND", "There is no such key.");
    return numUpdatedRows > 0n;
  }

  /** The key with an id, or that is this text; undefined for none. */
  findByName(text: string): Promise<{ id: number; accountId: string } | undefined> {
    return this.context.database.read
      .selectFrom("api_keys")
      .select(["id", "account_id as accountId"])
      .where(
        tokenPrefix(text) === "sid"
          ? sql<boolean>`hash = ${hashToken(text)}`
          : sql<boolean>`id = ${/^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0}`,
      )
      .executeTakeFirst();
  }

  /** Whom a key belongs to; undefined for one that is malformed, unknown, revoked or expired, or of a banned account. */
  async find(secret: string): Promise<KeyHolder | undefined> {
    if (tokenPrefix(secret) !== "sid") return undefined;
    const hash = hashToken(secret);
    return this.#recordUse(await this.#cache.find(hash, () => this.#read(hash)));
  }

  /** Whether `find` reads nothing, or found this key valid in the last ten minutes. */
  isFamiliar(secret: string): boolean {
    return tokenPrefix(secret) !== "sid" || this.#cache.isFamiliar(hashToken(secret));
  }

  /** `find` without a promise, by the hash of a key that was found a moment ago; undefined if that takes a read. */
  peek(hash: string): KeyHolder | undefined {
    return this.#recordUse(this.#cache.peek(hash)?.value);
  }

  #read(hash: string): Promise<KeyHolder | undefined> {
    return this.context.database.read
      .selectFrom("api_keys")
      .select(["id as keyId", "account_id as accountId", "last_used_at as lastUsedAt"])
      .select("revoked_at as endsAt")
      .where("hash", "=", hash)
      .executeTakeFirst();
  }

  /** The holder of a key that has not ended, unless it is banned. Requests do not wait for the write, which is lost if it fails. */
  #recordUse(holder: KeyHolder | undefined): KeyHolder | undefined {
    const now = this.context.clock.now();
    if (holder !== undefined && holder.endsAt !== null && holder.endsAt <= now) return undefined;
    if (holder !== undefined && this.context.bans.hasAccount(holder.accountId)) return undefined;
    if (holder === undefined || now - (holder.lastUsedAt ?? 0) < WRITE_INTERVAL_MS) return holder;
    const { keyId } = holder;
    holder.lastUsedAt = now;
    this.context.writes.add(
      () =>
        this.context.database.write
          .updateTable("api_keys")
          .set({ last_used_at: now })
          .where("id", "=", keyId)
          .execute(),
      "the last use of an API key could not be recorded",
      { keyId },
    );
    return holder;
  }
}

/** Whether a key has not ended at the time `now`. */
function isActive(now: number) {
  return sql<boolean>`(revoked_at is null or revoked_at > ${now})`;
}

function keysOf(db: Db | Tx, accountId: string) {
  return db
    .selectFrom("api_keys")
    .select(["id", "name", "hint"])
    .select(["created_at as createdAt", "last_used_at as lastUsedAt", "revoked_at as endsAt"])
    .where("account_id", "=", accountId);
}
