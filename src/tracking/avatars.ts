/**
 * Avatars: the images of owners, made small, stored and served from here, so that no page makes a browser contact another host.
 * Only owners on lists have one. Images are foreign content: they are decoded in a process of their own, and none of their bytes
 * are served. When to fetch which is decided by `tracking`, and how by `providers`.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { Database, Db } from "../database/database.js";
import { type Clock, DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";

/** Maximum number of owners with an avatar: every serving process has them in memory, and each has up to 25 kB in the database. */
export const MAX_OWNERS = 8_000;
const BATCH = 500;
/** How long an avatar is kept after its owner was last on a list. */
const KEPT_MS = WEEK_MS;
/** When owners that are still on a list are noted again. */
const NOTED_AGAIN_MS = 6 * HOUR_MS;
/** Time between two requests for an avatar, and after one that failed. */
const FRESH_MS = 30 * DAY_MS;
const RETRY_MS = DAY_MS;
/** How long pages use the versions they know. */
const KNOWN_MS = 30_000;

export interface Owner {
  provider: string;
  owner: string;
}

export interface DueAvatar extends Owner {
  /** null: its forge has not reported it yet. */
  address: string | null;
}

/** The owner in small letters: forges ignore case in the names of owners. */
const keyOf = (owner: string): string => owner.toLowerCase();

export class Avatars {
  readonly #database: Database;
  readonly #clock: Clock;
  #versions: ReadonlyMap<string, string> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Finds the version of an owner's image without a read. At most half a minute old; the first call waits for the versions, and
   * later ones take those that are known while new ones are read. Without an error: pages can do without images.
   */
  async finder(): Promise<(provider: string, owner: string) => string | undefined> {
    const isFirst = this.#readAt === Number.NEGATIVE_INFINITY;
    if (this.#reading === undefined && this.#clock.monotonic() - this.#readAt >= KNOWN_MS) {
      this.#readAt = this.#clock.monotonic();
      this.#reading = this.#read()
        .catch(() => {})
        .finally(() => {
          this.#reading = undefined;
        });
    }
    if (isFirst) await this.#reading;
    return (provider, owner) => this.#versions.get(`${provider} ${keyOf(owner)}`);
  }

  async #read(): Promise<void> {
    const rows = await this.#database.read
      .selectFrom("avatars")
      .select(["provider", "owner_key", "version"])
      .where("version", "is not", null)
      .execute();
    this.#versions = new Map(
      rows.map(({ provider, owner_key, version }) => [`${provider} ${owner_key}`, version ?? ""]),
    );
  }

  /** The PNG with this version; undefined without one. */
  async image(version: string): Promise<Uint8Array | undefined> {
    const row = await this.#database.read
      .selectFrom("avatars")
      .select("png")
      .where("version", "=", version)
      .limit(1)
      .executeTakeFirst();
    return row?.png ?? undefined;
  }

  /** Notes that these owners are on lists, the most visible ones first: their avatars are fetched in this order. */
  async want(owners: readonly Owner[]): Promise<void> {
    const now = this.#clock.now();
    const wanted = [...new Map(owners.map((one) => [`${one.provider} ${keyOf(one.owner)}`, one])).values()];
    const rows = wanted.slice(0, MAX_OWNERS).map(({ provider, owner }, i) => ({
      provider,
      owner_key: keyOf(owner),
      owner,
      next_at: now + i,
      wanted_at: now,
    }));
    for (let from = 0; from < rows.length; from += BATCH)
      await this.#database.write
        .insertInto("avatars")
        .values(rows.slice(from, from + BATCH))
        .onConflict((conflict) =>
          conflict
            .columns(["provider", "owner_key"])
            .doUpdateSet({ wanted_at: now })
            .where("avatars.wanted_at", "<", now - NOTED_AGAIN_MS),
        )
        .execute();
  }

  /** Notes reported addresses. A new one makes a wanted avatar due, unless the address by name has led to its image. */
  async noteAddresses(
    db: Db,
    provider: string,
    reported: readonly { owner: string; avatarUrl?: string | null }[],
  ): Promise<void> {
    const addresses = new Map(
      reported.flatMap(({ owner, avatarUrl }) => (avatarUrl ? [[keyOf(owner), avatarUrl] as const] : [])),
    );
    if (addresses.size === 0) return;
    const known = await db
      .selectFrom("avatars")
      .select(["owner_key", "address", "version"])
      .where("provider", "=", provider)
      .where(this.#database.dialect.among(sql.ref("owner_key"), [...addresses.keys()]))
      .execute();
    for (const { owner_key, address: before, version } of known) {
      const address = addresses.get(owner_key);
      const due = before === null && version !== null ? {} : { next_at: this.#clock.now() };
      if (address !== undefined && address !== before)
        await this.#set(db, { provider, owner: owner_key }, { address, ...due });
    }
  }

  /** The avatar that has been due longest, or the time in ms until one is due; Infinity without any. */
  async next(provider: string): Promise<DueAvatar | number> {
    const now = this.#clock.now();
    const row = await this.#database.read
      .selectFrom("avatars")
      .select(["owner", "address", "next_at"])
      .where("provider", "=", provider)
      .orderBy("next_at")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return Number.POSITIVE_INFINITY;
    return row.next_at > now ? row.next_at - now : { provider, owner: row.owner, address: row.address };
  }

  /** Keeps the image of an owner; null: it has none, or none that is accepted. */
  async keep(owner: Owner, png: Uint8Array | null): Promise<void> {
    const version = png === null ? null : createHash("sha256").update(png).digest("hex").slice(0, 32);
    const next_at = this.#clock.now() + FRESH_MS;
    await this.#set(this.#database.write, owner, { version, png, next_at });
  }

  /** Nothing was learned about the image: the stored one stays. */
  async retryLater(owner: Owner): Promise<void> {
    await this.#set(this.#database.write, owner, { next_at: this.#clock.now() + RETRY_MS });
  }

  async #set(
    db: Db,
    { provider, owner }: Owner,
    values: { address?: string; version?: string | null; png?: Uint8Array | null; next_at?: number },
  ): Promise<void> {
    await db
      .updateTable("avatars")
      .set(values)
      .where("provider", "=", provider)
      .where("owner_key", "=", keyOf(owner))
      .execute();
  }

  /** Removes the avatars of owners that have not been on a list in the week before `now`, or are too many. Returns how many. */
  async evict(now: number): Promise<number> {
    const { numDeletedRows } = await this.#database.write
      .deleteFrom("avatars")
      .where("wanted_at", "<", now - KEPT_MS)
      .executeTakeFirst();
    const { rows } = await sql`delete from avatars where wanted_at <
      (select wanted_at from avatars order by wanted_at desc limit 1 offset ${MAX_OWNERS - 1}) returning 1`.execute(
      this.#database.write,
    );
    return Number(numDeletedRows) + rows.length;
  }
}

interface AvatarStatus {
  wanted: number;
  images: number;
}

export async function readAvatarStatus(read: Db, provider: string): Promise<AvatarStatus> {
  const { wanted, images } = await read
    .selectFrom("avatars")
    .select(({ fn }) => [fn.countAll().as("wanted"), fn.count("version").as("images")])
    .where("provider", "=", provider)
    .executeTakeFirstOrThrow();
  return { wanted: Number(wanted), images: Number(images) };
}

/** Longest time to decode an image; most take a tenth of a second, with the start of the process. */
const DEADLINE_MS = 10_000;
/** Memory of the process for JavaScript, in MiB. Pixels are limited by the process itself. */
const HEAP_MB = 64;
/** More than pixels of 80 × 80 can take. */
const MAX_PNG_BYTES = 32 * 1024;

interface ShrinkOptions {
  script?: URL;
  deadlineMs?: number;
}

/**
 * Draws a small PNG of an image that anybody may have uploaded. It is decoded in a process of its own with little memory, a
 * deadline and no environment: one that crashes or hangs costs this image only. null: it is none of a PNG, JPEG or GIF of at most
 * 2,048 × 2,048 pixels, cannot be decoded, or shows nothing.
 */
export async function shrink(
  bytes: Uint8Array,
  { script = new URL("./avatar-process.js", import.meta.url), deadlineMs = DEADLINE_MS }: ShrinkOptions = {},
): Promise<Buffer | null> {
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, fileURLToPath(script)], {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  // It may end before it has read everything.
  child.stdin.on("error", () => {});
  child.stdin.end(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_PNG_BYTES) chunks.push(chunk);
    else child.kill("SIGKILL");
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return code === 0 && length > 0 && length <= MAX_PNG_BYTES ? Buffer.concat(chunks) : null;
}
