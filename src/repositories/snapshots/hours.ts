/** Counts snapshots by provider and hour, and finds damage in stored histories. */
import { sql } from "kysely";
import type { Db, Dialect, MergedTable, Tx } from "../../database/database.js";
import { HOUR_MS } from "../../lib/clock.js";
import { readReadings } from "./read.js";
import { type BlockRow, DamagedBlock, decodeBlock, lengthOf, Readings } from "./readings.js";

/** Rows, or repositories, read at a time. */
const BATCH = 1_000;

const HOURS: MergedTable = {
  table: "snapshot_hours",
  columns: { provider: "text", hour: "bigint", snapshots: "bigint", newest_at: "bigint" },
  key: ["provider", "hour"],
  sets: `snapshots = snapshot_hours.snapshots + excluded.snapshots,
    newest_at = case when excluded.newest_at > snapshot_hours.newest_at then excluded.newest_at
      else snapshot_hours.newest_at end`,
};

/** Counts snapshots that are added or removed, by provider and hour. */
export class HourCounts {
  readonly #counts = new Map<
    string,
    { provider: string; hour: number; snapshots: number; newestAt: number }
  >();

  add(provider: string, capturedAt: number): void {
    const count = this.#count(provider, capturedAt);
    count.snapshots++;
    count.newestAt = Math.max(count.newestAt, capturedAt);
  }

  remove(provider: string, capturedAt: number): void {
    this.#count(provider, capturedAt).snapshots--;
  }

  #count(provider: string, capturedAt: number): { snapshots: number; newestAt: number } {
    const hour = Math.floor(capturedAt / HOUR_MS);
    const key = `${provider} ${hour}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      // Times of removed snapshots do not count, so this is below any time.
      count = { provider, hour, snapshots: 0, newestAt: 0 };
      this.#counts.set(key, count);
    }
    return count;
  }

  /** Adds the counts to the stored ones. */
  async write(tx: Tx, dialect: Dialect): Promise<void> {
    const rows = [...this.#counts.values()].map(({ provider, hour, snapshots, newestAt }) => {
      return [provider, hour, snapshots, newestAt];
    });
    await dialect.merge(tx, HOURS, rows);
  }
}

/** Time of the newest snapshot of all; null without any. */
export async function newestSnapshot(db: Db): Promise<number | null> {
  const { newest } = await db
    .selectFrom("snapshot_hours")
    .select(({ fn }) => fn.max("newest_at").as("newest"))
    .executeTakeFirstOrThrow();
  return newest === null ? null : Number(newest);
}

/**
 * The last time up to `to` before which at most a share of all snapshots was taken since `from`; all three are multiples of `step`, in
 * ms. The first step with snapshots is always passed.
 */
export async function endOfShare(
  db: Db,
  { from, to, step, share }: { from: number; to: number; step: number; share: number },
): Promise<number> {
  const own = sql.lit(step / HOUR_MS);
  const { rows } = await sql<{ own: number | string; snapshots: number | string }>`
    select hour / ${own} as own, sum(snapshots) as snapshots from snapshot_hours
    where snapshots > 0 group by hour / ${own} order by 1`.execute(db);
  const steps = rows.map((row) => ({ at: Number(row.own) * step, snapshots: Number(row.snapshots) }));
  let left = share * steps.reduce((sum, { snapshots }) => sum + snapshots, 0);
  let isFirst = true;
  for (const { at, snapshots } of steps) {
    if (at < from) continue;
    if (at >= to) break;
    left -= snapshots;
    if (left < 0 && !isFirst) return at;
    isFirst = false;
  }
  return to;
}

/** Decodes every block. Reports those that are damaged, and those that overlap with the block before or with later rows. */
export async function checkHistories(
  db: Db,
  onDamage: (kind: "block-damaged" | "history-overlaps", found: string) => void,
): Promise<void> {
  let before: BlockRow | undefined;
  for (;;) {
    const { rows } = await sql<BlockRow>`select repository_id as "repositoryId", from_at as "fromAt",
        to_at as "toAt", snapshots, data from snapshot_blocks
      where (repository_id, from_at) > (${before?.repositoryId ?? 0}, ${before?.fromAt ?? 0})
      order by repository_id, from_at limit ${sql.lit(BATCH)}`.execute(db);
    if (rows.length === 0) break;
    for (const block of rows) {
      try {
        decodeBlock(block, Readings.ofLength(lengthOf(block)));
      } catch (error) {
        if (!(error instanceof DamagedBlock)) throw error;
        onDamage("block-damaged", error.message);
      }
      if (before?.repositoryId === block.repositoryId && block.fromAt <= before.toAt)
        onDamage(
          "history-overlaps",
          `repository ${block.repositoryId}, block that begins at ${block.fromAt}`,
        );
      before = block;
    }
  }
  const { rows } = await sql<{ id: number }>`select distinct s.repository_id as id from snapshots s
    join snapshot_blocks b on b.repository_id = s.repository_id and b.to_at >= s.captured_at`.execute(db);
  for (const { id } of rows)
    onDamage("history-overlaps", `repository ${id}, snapshots before the end of its blocks`);
}

/** Counts snapshots per provider and hour again, given all repositories with any. Damaged histories are left out. */
export async function recountHours(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("snapshot_hours").execute();
  const hours = new HourCounts();
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH);
    const owners = await tx
      .selectFrom("repositories")
      .select(["id", "provider"])
      .where(dialect.among(sql.ref("id"), batch))
      .execute();
    const readings = await readReadings(tx, dialect, { ids: batch, width: 1, onDamaged: () => {} });
    for (const { id, provider } of owners) {
      const own = readings.get(id);
      for (let i = 0; i < (own?.length ?? 0); i++) hours.add(provider, own?.at(i) ?? 0);
    }
  }
  await hours.write(tx, dialect);
}
