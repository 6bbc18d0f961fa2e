import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { BulkTable, Database, Db, Tx } from "../../database/database.js";
import { type Clock, DAY_MS, HOUR_MS, WEEK_MS } from "../../lib/clock.js";

/** Maximum number of owners with an avatar, whatever their size: each serving thread has them in memory. */
const MAX_OWNERS = 20_000;
/** Mean size that is expected of an image, to choose how many owners are wanted. Photographs have about 6 kB, drawings 3 kB. */
const EXPECTED_BYTES = 4 * 1024;
/** Room that is left for the next image. */
const NEXT_IMAGE_BYTES = 16 * 1024;
/** Rows of a statement. */
const BATCH = 500;

/** How long an avatar is kept after its owner was last on a list. */
const KEPT_MS = WEEK_MS;
/** When owners that are still on a list are noted again. */
const NOTED_AGAIN_MS = 6 * HOUR_MS;
/** Time between two requests for an avatar. */
const FRESH_MS = 30 * DAY_MS;
/** How long a worker may take for one. */
const LEASE_MS = 10 * 60_000;
/** After this many failures in a row an image is too old to be shown. */
const MAX_FAILURES = 8;
/** Characters of a problem, an ETag and so on come from our own code or are bounded there. */
const MAX_PROBLEM = 200;

const AVATARS: BulkTable = {
  table: "avatars",
  columns: {
    provider: "text",
    owner_key: "text",
    owner: "text",
    address: "text",
    bytes: "bigint",
    next_at: "bigint",
    failures: "bigint",
    wanted_at: "bigint",
    position: "bigint",
    changed_at: "bigint",
  },
  key: ["provider", "owner_key"],
};
/** The columns that change when an owner is noted again. */
const NOTES: BulkTable = {
  table: "avatars",
  columns: { provider: "text", owner_key: "text", wanted_at: "bigint", position: "bigint" },
  key: ["provider", "owner_key"],
};
/** Position of owners that are on no list. */
const UNLISTED = MAX_OWNERS;

/** Who an avatar belongs to. */
export interface Owner {
  provider: string;
  owner: string;
}

/** The owner in small letters, as in `owner_key`: forges ignore case in the names of owners. */
const ownerKey = (owner: string): string => owner.toLowerCase();

/** Identifies an owner among those of all providers: no name contains a space. */
export const keyOf = ({ provider, owner }: Owner): string => `${provider} ${ownerKey(owner)}`;

/** An avatar that is to be requested. */
export interface DueAvatar extends Owner {
  /** null: its forge has not reported it yet. */
  address: string | null;
  etag: string | null;
  failures: number;
  /** End of the lease. What is written under an earlier one changes nothing. */
  leasedUntil: number;
}

/** The stored avatars as the worker sees them: who is wanted, what is due, and what its forge said. */
export class AvatarStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #maxBytes: number;

  constructor({ database, clock, maxBytes }: { database: Database; clock: Clock; maxBytes: number }) {
    this.#database = database;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** Number of owners that can be wanted. */
  get maxOwners(): number {
    return Math.min(MAX_OWNERS, Math.floor(this.#maxBytes / EXPECTED_BYTES));
  }

  /**
   * Notes that these owners are on lists, the most visible ones first: their avatars are fetched in this order, and removed in
   * the opposite one where there is no room for all.
   */
  async want(owners: readonly Owner[]): Promise<void> {
    const { dialect, write } = this.#database;
    const now = this.#clock.now();
    const wanted = [...new Map(owners.map((one) => [keyOf(one), one])).values()];
    const keyColumns = { provider: "text", owner_key: "text" } as const;
    for (let from = 0; from < Math.min(wanted.length, this.maxOwners); from += BATCH) {
      const batch = wanted.slice(from, Math.min(from + BATCH, this.maxOwners));
      const keys = batch.map(({ provider, owner }) => [provider, ownerKey(owner)]);
      const rows = batch.map(({ provider, owner }, i) => [
        provider,
        ownerKey(owner),
        owner,
        null,
        0,
        now + from + i,
        0,
        now,
        from + i,
        0,
      ]);
      const positions = new Map(batch.map((one, i) => [keyOf(one), from + i]));
      await write.transaction().execute(async (tx) => {
        await dialect.insertNew(tx, AVATARS, rows);
        const { rows: known } = await sql<{
          provider: string;
          owner: string;
          wanted_at: number;
          position: number;
        }>`
          select provider, owner_key as owner, wanted_at, position from avatars
          where (provider, owner_key) in (${dialect.rowsOf(keyColumns, keys)})`.execute(tx);
        const moved = known.flatMap(({ provider, owner, ...noted }) => {
          const position = positions.get(keyOf({ provider, owner })) ?? UNLISTED;
          if (noted.position === position && noted.wanted_at >= now - NOTED_AGAIN_MS) return [];
          return [[provider, owner, now, position]];
        });
        await dialect.updateRows(tx, NOTES, moved);
      });
    }
    await write
      .updateTable("avatars")
      .set({ position: UNLISTED })
      .where("wanted_at", "<", now - NOTED_AGAIN_MS)
      .where("position", "<>", UNLISTED)
      .execute();
  }

  /**
   * Notes what a forge reports as addresses, for wanted owners. The first one makes an avatar due that has no image yet. Another
   * one takes effect within a day, so that a forge whose reports differ from each other is not asked with each of them.
   */
  async noteAddresses(
    db: Db,
    provider: string,
    reported: readonly { owner: string; avatarUrl?: string | null }[],
  ): Promise<void> {
    const addresses = new Map(
      reported.flatMap(({ owner, avatarUrl }): [string, string][] =>
        avatarUrl === null || avatarUrl === undefined ? [] : [[ownerKey(owner), avatarUrl]],
      ),
    );
    if (this.#maxBytes === 0 || addresses.size === 0) return;
    const known = await db
      .selectFrom("avatars")
      .select(["owner_key", "address", "version", "next_at"])
      .where("provider", "=", provider)
      .where(this.#database.dialect.among(sql.ref("owner_key"), [...addresses.keys()]))
      .execute();
    const now = this.#clock.now();
    for (const { owner_key, address: before, version, next_at } of known) {
      const address = addresses.get(owner_key) ?? null;
      if (address === before) continue;
      // The address by name has led to the same image.
      const isKnown = before === null && version !== null;
      const dueAt = before === null ? now : now + DAY_MS;
      await db
        .updateTable("avatars")
        .set({ address, ...(!isKnown && { etag: null, next_at: Math.min(next_at, dueAt) }) })
        .where("provider", "=", provider)
        .where("owner_key", "=", owner_key)
        .execute();
    }
  }

  /**
   * The avatar that has been due longest, under a lease; or how long to wait for the next. Full: only those with an image, and
   * those that are more visible than one with an image.
   */
  async claim(provider: string): Promise<DueAvatar | { waitMs: number }> {
    const { read, write } = this.#database;
    const now = this.#clock.now();
    const hasRoom = (await bytesOf(read)) + NEXT_IMAGE_BYTES <= this.#maxBytes;
    const last = hasRoom ? UNLISTED : await lastPosition(read);
    const next = await read
      .selectFrom("avatars")
      .select(["owner_key", "owner", "address", "etag", "failures", "next_at"])
      .where("provider", "=", provider)
      .$if(!hasRoom, (query) =>
        query.where(({ eb, or }) => or([eb("version", "is not", null), eb("position", "<", last)])),
      )
      .orderBy("next_at")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return { waitMs: Number.POSITIVE_INFINITY };
    // A clock that was set back must not stop it for long.
    if (next.next_at > now && next.next_at - now <= 2 * FRESH_MS) return { waitMs: next.next_at - now };
    const leasedUntil = now + LEASE_MS;
    const { numUpdatedRows } = await write
      .updateTable("avatars")
      .set({ next_at: leasedUntil })
      .where("provider", "=", provider)
      .where("owner_key", "=", next.owner_key)
      .where("next_at", "=", next.next_at)
      .executeTakeFirst();
    // Another worker has taken it.
    if (numUpdatedRows === 0n) return { waitMs: 1_000 };
    const { owner, address, etag, failures } = next;
    return { provider, owner, address, etag, failures, leasedUntil };
  }

  /**
   * Keeps the image of an owner, and removes those of the least visible owners if all together are too large. Nothing else may
   * remove images in the meantime: one that it finds could be gone before it is linked.
   */
  async keep({ provider, owner, leasedUntil }: Due, png: Uint8Array, etag: string | null): Promise<void> {
    const version = createHash("sha256").update(png).digest("hex").slice(0, 32);
    const now = this.#clock.now();
    const { dialect, write } = this.#database;
    await dialect.exclusively(write, "avatars", async (tx) => {
      const { rows } = await sql`select 1 from avatars where provider = ${provider}
        and owner_key = ${ownerKey(owner)} and next_at = ${leasedUntil} ${dialect.lockRow}`.execute(tx);
      if (rows.length === 0) return;
      await tx
        .insertInto("avatar_images")
        .values({ version, png })
        .onConflict((conflict) => conflict.column("version").doNothing())
        .execute();
      await sql`update avatars set changed_at = case when version = ${version} then changed_at else ${now} end,
        version = ${version}, bytes = ${png.length}, etag = ${etag}, failures = 0, problem = null, next_at = ${now + FRESH_MS}
        where provider = ${provider} and owner_key = ${ownerKey(owner)}`.execute(tx);
      await this.#makeRoom(tx);
    });
  }

  /** The image is still the same. */
  async confirm(due: Due): Promise<void> {
    await this.#set(due, { failures: 0, problem: null, next_at: this.#clock.now() + FRESH_MS });
  }

  /** The owner has no image, or none that is accepted. */
  async clear(due: Due, problem: string): Promise<void> {
    const now = this.#clock.now();
    await this.#set(due, {
      version: null,
      bytes: 0,
      etag: null,
      failures: 0,
      problem: problem.slice(0, MAX_PROBLEM),
      next_at: now + FRESH_MS,
      changed_at: now,
    });
  }

  /** Nothing was learned about the image. It stays for some failures, which are further and further apart. */
  async postpone(due: DueAvatar, problem: string): Promise<void> {
    const { failures } = due;
    if (failures + 1 >= MAX_FAILURES) return this.clear(due, problem);
    const waitMs = Math.min(WEEK_MS, HOUR_MS * 3 ** failures);
    await this.#set(due, {
      failures: failures + 1,
      problem: problem.slice(0, MAX_PROBLEM),
      next_at: this.#clock.now() + waitMs,
    });
  }

  /** Ends a lease without a result: the avatar is due again after `waitMs`. */
  async release(due: Due, waitMs: number): Promise<void> {
    await this.#set(due, { next_at: this.#clock.now() + waitMs });
  }

  /**
   * Removes what is no longer wanted: avatars of owners that have not been on a list for a week, and, while all together are too
   * large, those of the least visible owners. Returns how many.
   */
  async evict(): Promise<number> {
    const { dialect, write } = this.#database;
    const now = this.#clock.now();
    const { numDeletedRows } = await write
      .deleteFrom("avatars")
      .where("wanted_at", "<", this.#maxBytes === 0 ? now + 1 : now - KEPT_MS)
      .executeTakeFirst();
    let removed = Number(numDeletedRows);
    for (let batch = BATCH; batch === BATCH; removed += batch)
      batch = await dialect.exclusively(write, "avatars", (tx) => this.#makeRoom(tx));
    await dialect.exclusively(write, "avatars", async (tx) => {
      await sql`delete from avatar_images where version not in
        (select version from avatars where version is not null)`.execute(tx);
    });
    return removed;
  }

  /** Unlinks up to BATCH images, of the least visible owners, while all together are too large. Returns how many. */
  async #makeRoom(tx: Tx): Promise<number> {
    let excess = (await bytesOf(tx)) - this.#maxBytes;
    if (excess <= 0) return 0;
    const last = await tx
      .selectFrom("avatars")
      .select(["provider", "owner_key", "bytes"])
      .where("version", "is not", null)
      .orderBy("position", "desc")
      .orderBy("wanted_at")
      .limit(BATCH)
      .execute();
    const keys: string[][] = [];
    for (const { provider, owner_key, bytes } of last) {
      if (excess <= 0) break;
      keys.push([provider, owner_key]);
      excess -= bytes;
    }
    const now = this.#clock.now();
    // They are due: should there be room again, they need not wait.
    await sql`update avatars set version = null, bytes = 0, etag = null, failures = 0, problem = 'no room', next_at = ${now},
      changed_at = ${now} where (provider, owner_key) in
      (${this.#database.dialect.rowsOf({ provider: "text", owner_key: "text" }, keys)})`.execute(tx);
    return keys.length;
  }

  async #set(
    { provider, owner, leasedUntil }: Due,
    values: Partial<{
      version: null;
      bytes: number;
      etag: null;
      failures: number;
      problem: string | null;
      next_at: number;
      changed_at: number;
    }>,
  ): Promise<void> {
    await this.#database.write
      .updateTable("avatars")
      .set(values)
      .where("provider", "=", provider)
      .where("owner_key", "=", ownerKey(owner))
      .where("next_at", "=", leasedUntil)
      .execute();
  }
}

type Due = Pick<DueAvatar, "provider" | "owner" | "leasedUntil">;

/** Size of all images. */
async function bytesOf(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom("avatars")
    .select(({ fn }) => fn.sum("bytes").as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Position of the least visible owner with an image; 0 without images. */
async function lastPosition(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom("avatars")
    .select(({ fn }) => fn.max("position").as("last"))
    .where("version", "is not", null)
    .executeTakeFirstOrThrow();
  return last ?? 0;
}
