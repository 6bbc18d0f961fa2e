/**
 * Avatars: the images of owners, made small, stored and served from here, so that no page makes a browser contact another host.
 * Only owners on lists have one, and all together stay within a size. Images are foreign content: they are decoded in a process
 * of their own, and none of their bytes are served. When to fetch which is decided by `tracking`, and how by `providers`.
 */
import { sql } from "kysely";
import type { Database, Db } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AvatarStore, keyOf } from "./store.js";

export { ImageRefused, type ShrinkOptions, shrink } from "./shrink.js";
export type { AvatarStore, DueAvatar, Owner } from "./store.js";

/** How long pages use the known versions before they look for new ones. */
const KNOWN_MS = 30_000;
/** How long after a look the next one may start for a version that is not known. */
const UNKNOWN_MS = 1_000;
/** Rows per read. */
const READ_ROWS = 2_000;
const VERSION = /^[0-9a-f]{32}$/;

export interface AvatarOptions {
  database: Database;
  clock: Clock;
  /** Maximum size of all images, in bytes; 0: there are no avatars. */
  maxBytes: number;
}

/** The avatars that pages show. Which owners have one is in memory: some thousand short texts, read again when one changes. */
export class Avatars {
  /** The avatars as the worker sees them. */
  readonly store: AvatarStore;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly isOn: boolean;
  #versions: ReadonlyMap<string, string> = new Map();
  #images: ReadonlySet<string> = new Set();
  /** State of the table that the versions were read in. */
  #state = "";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor({ database, clock, maxBytes }: AvatarOptions) {
    this.store = new AvatarStore({ database, clock, maxBytes });
    this.#database = database;
    this.#clock = clock;
    this.isOn = maxBytes > 0;
  }

  /** The version of an owner's avatar, as of the last `update`; undefined without one. Reads nothing. */
  versionOf(provider: string, owner: string): string | undefined {
    return this.#versions.get(keyOf({ provider, owner }));
  }

  /**
   * The PNG with this version; undefined without one. A page of another thread or process may show a version that is not known
   * here yet, so an unknown one waits for a look. Whatever is requested, looks start a second apart.
   */
  async image(version: string): Promise<Uint8Array | undefined> {
    if (!this.#images.has(version) && VERSION.test(version)) {
      this.#lookAfter(UNKNOWN_MS);
      await this.#looking;
    }
    if (!this.#images.has(version)) return undefined;
    const row = await this.#database.read
      .selectFrom("avatar_images")
      .select("png")
      .where("version", "=", version)
      .executeTakeFirst();
    return row?.png;
  }

  /** Looks for new versions, twice a minute at most; only the first call waits for them. Never throws: pages do without. */
  async update(): Promise<void> {
    const isKnown = this.#state !== "";
    this.#lookAfter(isKnown ? KNOWN_MS : UNKNOWN_MS);
    if (!isKnown) await this.#looking;
  }

  /** Starts a look if none is in progress and the last one started this long ago. */
  #lookAfter(pauseMs: number): void {
    const now = this.#clock.monotonic();
    if (!this.isOn || this.#looking !== undefined || now - this.#lookedAt < pauseMs) return;
    this.#lookedAt = now;
    this.#looking = this.#look()
      .catch(() => {
        // The next look reads them.
      })
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** Resolves when no look is in progress. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { read } = this.#database;
    const { images, changedAt } = await read
      .selectFrom("avatars")
      .select(({ fn }) => [fn.countAll().as("images"), fn.max("changed_at").as("changedAt")])
      .where("version", "is not", null)
      .executeTakeFirstOrThrow();
    const state = `${images} ${changedAt}`;
    if (state === this.#state) return;
    const versions = new Map<string, string>();
    for (let last: { provider: string; owner_key: string } | undefined; ; ) {
      const after = last;
      const rows = await read
        .selectFrom("avatars")
        .select(["provider", "owner_key", "version"])
        .where("version", "is not", null)
        .$if(after !== undefined, (query) =>
          query.where(({ eb, refTuple, tuple }) =>
            eb(refTuple("provider", "owner_key"), ">", tuple(after?.provider ?? "", after?.owner_key ?? "")),
          ),
        )
        .orderBy("provider")
        .orderBy("owner_key")
        .limit(READ_ROWS)
        .execute();
      for (const { provider, owner_key, version } of rows)
        if (version !== null) versions.set(keyOf({ provider, owner: owner_key }), version);
      last = rows.at(-1);
      if (last === undefined || rows.length < READ_ROWS) break;
    }
    this.#versions = versions;
    this.#images = new Set(versions.values());
    this.#state = state;
  }
}

/** Maximum number of reasons listed. */
const REASONS = 5;

/** Numbers of avatars of one provider. */
export interface AvatarStatus {
  /** Owners on lists. */
  wanted: number;
  /** Of these, with an image. */
  images: number;
  bytes: number;
  /** Due now. */
  due: number;
  /** Why others have none, or an old one: the most frequent reasons. */
  problems: { problem: string; owners: number }[];
}

/** The avatars of a provider in numbers. Counts rows, of which there are few. */
export async function readAvatarStatus(read: Db, provider: string, now: number): Promise<AvatarStatus> {
  const { rows } = await sql<{ wanted: number; images: number; bytes: number | null; due: number | null }>`
    select count(*) as wanted, count(version) as images, sum(bytes) as bytes,
      sum(case when next_at <= ${now} then 1 else 0 end) as due
    from avatars where provider = ${provider}`.execute(read);
  const problems = await read
    .selectFrom("avatars")
    .select(({ fn }) => ["problem", fn.countAll().as("owners")])
    .where("provider", "=", provider)
    .where("problem", "is not", null)
    .groupBy("problem")
    .orderBy(({ fn }) => fn.countAll(), "desc")
    .orderBy("problem")
    .limit(REASONS)
    .execute();
  const { wanted = 0, images = 0, bytes = 0, due = 0 } = rows[0] ?? {};
  return {
    wanted: Number(wanted),
    images: Number(images),
    bytes: Number(bytes),
    due: Number(due),
    problems: problems.map(({ problem, owners }) => ({ problem: problem ?? "", owners: Number(owners) })),
  };
}
