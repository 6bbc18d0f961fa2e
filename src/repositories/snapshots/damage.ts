/** Finds damage in stored histories, and counts their snapshots again. */
import { sql } from "kysely";
import type { Db, Dialect, Tx } from "../../database/database.js";
import { type BlockRow, DamagedBlock, decodeBlock, lengthOf } from "./codec.js";
import { HourCounts } from "./hours.js";
import { readReadings } from "./read.js";
import { Readings } from "./readings.js";

/** Rows, or repositories, read at a time. */
const BATCH = 1_000;

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
