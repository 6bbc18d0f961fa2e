import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import type { DamagedBlock } from "./codec.js";
import { HourCounts } from "./hours.js";
import { readingsIn, readStored } from "./read.js";

/** What is wrong with a stored history. */
export type HistoryDamage = "block-damaged" | "history-overlaps";

/** Checks histories, a batch of repositories at a time, and counts their snapshots per hour along the way. */
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

  /** The first hours whose stored counts differ from what was added; undefined if that cannot be known. */
  async wrongHours(db: Db): Promise<string[] | undefined> {
    if (this.#isPartial) return undefined;
    const { rows } = await sql<{ provider: string; hour: number; snapshots: number }>`
      select provider, hour, snapshots from snapshot_hours`.execute(db);
    return this.#hours.differences(rows);
  }
}
