/** Checks stored histories, and repairs the hourly counts of snapshots. */
import { sql } from "kysely";
import type { Db, Dialect, Tx } from "../../database/database.js";
import { type DamagedBlock, readingsIn } from "./codec.js";
import { HourCounts } from "./hours.js";
import { readReadings, readStored } from "./read.js";

/** Kinds of damage of a stored history. */
export type HistoryDamage = "block-damaged" | "history-overlaps";

/** Checks histories, a batch of repositories at a time, and counts their snapshots per hour. */
export class HistoryCheck {
  readonly #onDamage: (kind: HistoryDamage, found: string) => void;
  readonly #hours = new HourCounts();
  /** Whether the hours of some snapshots are unknown. */
  #isPartial = false;

  constructor(onDamage: (kind: HistoryDamage, found: string) => void) {
    this.#onDamage = onDamage;
  }

  /** Checks the histories of repositories, given with their providers. */
  async add(db: Db, dialect: Dialect, providers: ReadonlyMap<number, string>): Promise<void> {
    const stored = await readStored(db, dialect, { ids: [...providers.keys()] });
    for (const [id, { blocks, tail }] of stored) {
      const ends = blocks.map(({ toAt }) => toAt);
      const starts = [...blocks.slice(1).map(({ fromAt }) => fromAt), tail.at(0)];
      const overlap = starts.findIndex((start, i) => start <= (ends[i] ?? Number.NEGATIVE_INFINITY));
      if (overlap >= 0)
        this.#onDamage(
          "history-overlaps",
          `repository ${id}, block that begins at ${blocks[overlap]?.fromAt}`,
        );
    }
    const onDamaged = ({ repositoryId, message }: DamagedBlock) => {
      this.#isPartial = true;
      this.#onDamage("block-damaged", `repository ${repositoryId}: ${message}`);
    };
    for (const [id, readings] of readingsIn(stored, {}, { width: 1, onDamaged })) {
      const provider = providers.get(id) ?? "";
      for (let i = 0; i < readings.length; i++) this.#hours.add(provider, readings.at(i));
    }
  }

  /** The hours whose stored counts differ from those of the added histories; undefined if some of these are damaged. */
  async wrongHours(db: Db): Promise<string[] | undefined> {
    if (this.#isPartial) return undefined;
    const { rows } = await sql<{ provider: string; hour: number; snapshots: number }>`
      select provider, hour, snapshots from snapshot_hours`.execute(db);
    return this.#hours.differences(rows);
  }
}

/** Repositories read at a time. */
const BATCH = 1_000;

/**
 * Recounts the snapshots per provider and hour, given all repositories that have any. Those whose history is damaged are left
 * out.
 */
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
