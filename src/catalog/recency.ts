import { DAY_MS } from "../clock.js";
import type { Db } from "../database/database.js";
import type { SnapshotSource } from "./observation.js";
import type { Repository } from "./repository.js";
import { snapshotTimes } from "./snapshots/snapshots.js";

/** What decides whether a reading is recent. Times in ms since 1970. */
export interface Recency {
  /** Time of each provider's newest snapshot. */
  asOf: ReadonlyMap<string, number>;
  /** Time of the first snapshots of each provider, to the hour. */
  since: ReadonlyMap<string, number>;
  /** Time of the newest undamaged file of each archive. */
  newestFiles: ReadonlyMap<string, number>;
}

/** A tracked repository is recent for this many of its own refresh intervals. */
export const RECENT_INTERVALS = 2;
/** The same for one that is neither tracked nor in an archive: half the longest window. */
export const RECENT_MS = 15 * DAY_MS;

export async function readRecency(db: Db): Promise<Recency> {
  const { asOf, since } = await snapshotTimes(db);
  const rows = await db
    .selectFrom("import_files")
    .select(({ fn }) => ["source", fn.max("captured_at").as("newest")])
    .where("damage", "is", null)
    .groupBy("source")
    .execute();
  return { asOf, since, newestFiles: new Map(rows.map((row) => [row.source, Number(row.newest)])) };
}

/** Remembers what decides whether counts are recent, as long as the revision stays the same. */
export class RecencyMemory {
  readonly #db: Db;
  readonly #readRevision: () => Promise<number>;
  #known: { value: Promise<Recency>; revision: number } | undefined;

  constructor(db: Db, readRevision: () => Promise<number>) {
    this.#db = db;
    this.#readRevision = readRevision;
  }

  /** See `Catalog.recency`. */
  async read(): Promise<Recency> {
    const revision = await this.#readRevision();
    if (this.#known?.revision === revision) return this.#known.value;
    const value = readRecency(this.#db);
    this.#known = { value, revision };
    // Whoever reads next must not share a failure.
    value.catch(() => {
      if (this.#known?.value === value) this.#known = undefined;
    });
    return value;
  }
}

/** A reading, with what is known of how its repository is observed. */
export interface LastReading extends Pick<Repository, "importSource" | "refreshInterval"> {
  at: number;
  /** Where the reading is from; null: unknown. */
  source: SnapshotSource | null;
}

/**
 * Until when a reading is recent: it is stale once the provider's newest snapshot is later. It is stale immediately, and this is
 * before `at`, if the archive's newest undamaged file no longer has the repository, or if its provider is no longer tracked.
 */
export function recentUntil(
  { at, source, importSource, refreshInterval }: LastReading,
  { newestFiles }: Pick<Recency, "newestFiles">,
): number {
  if (refreshInterval !== null && refreshInterval > 0 && source !== "IMPORTED")
    return at + RECENT_INTERVALS * refreshInterval;
  // Nobody will confirm it, and the time it would be compared with may not move on.
  if (refreshInterval === 0 && source !== "IMPORTED" && (source !== null || importSource === null))
    return at - 1;
  const newest = importSource === null || source === "OBSERVED" ? undefined : newestFiles.get(importSource);
  if (newest === undefined) return at + RECENT_MS;
  return at >= newest ? Number.MAX_SAFE_INTEGER : at - 1;
}

/** Whether the counts of a repository are no longer recent; false for one that was never counted. */
export function isStale(
  {
    provider,
    countedAt,
    importSource,
    refreshInterval,
  }: Pick<Repository, "provider" | "countedAt" | "importSource" | "refreshInterval">,
  recency: Recency,
): boolean {
  if (countedAt === null) return false;
  const last: LastReading = { importSource, refreshInterval, at: countedAt, source: null };
  return recentUntil(last, recency) < (recency.asOf.get(provider) ?? 0);
}
