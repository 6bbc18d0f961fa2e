import type { BulkRow, BulkTable, Db, Dialect, Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import type { Readings } from "../repositories/repositories.js";
import type { Anomaly, MovesOfDay } from "./anomalies.js";

const MOVED_DAYS: BulkTable = {
  table: "moved_days",
  columns: { provider: "text", day: "bigint", fell: "bigint", jumped: "bigint", compared: "bigint" },
  key: ["provider", "day"],
};

/** Counts per provider and day how many repositories lost stars, or jumped, since the previous day they were observed on. */
export class MoveCounter {
  readonly #days = new Map<string, Map<number, MovesOfDay>>();

  /** `readings`: totals alone. `jumps`: times of gains far beyond the usual. */
  add(provider: string, readings: Readings, jumps: readonly number[]): void {
    let days = this.#days.get(provider);
    if (days === undefined) {
      days = new Map();
      this.#days.set(provider, days);
    }
    let before: number | undefined;
    let nextDay = Math.floor(readings.at(0) / DAY_MS);
    for (let i = 0; i < readings.length; i++) {
      const day = nextDay;
      nextDay = Math.floor(readings.at(i + 1) / DAY_MS);
      if (nextDay === day) continue;
      const stars = readings.stars(i);
      if (before !== undefined) {
        let counts = days.get(day);
        if (counts === undefined) {
          counts = { fell: 0, jumped: 0, compared: 0 };
          days.set(day, counts);
        }
        counts.compared++;
        if (stars < before) counts.fell++;
      }
      before = stars;
    }
    for (const day of new Set(jumps.map((at) => Math.floor(at / DAY_MS)))) {
      const counts = days.get(day);
      if (counts !== undefined) counts.jumped++;
    }
  }

  /** Replaces the stored counts. */
  async store(tx: Tx, dialect: Dialect): Promise<void> {
    await tx.deleteFrom("moved_days").execute();
    const rows = [...this.#days].flatMap(([provider, days]) =>
      [...days].map(([day, { fell, jumped, compared }]): BulkRow => [provider, day, fell, jumped, compared]),
    );
    await dialect.insertNew(tx, MOVED_DAYS, rows);
  }
}

/** Whether movements of this kind tend to be shared by many repositories on one day. */
export function comesInWaves({ kind }: Anomaly): boolean {
  return kind === "PURGE" || kind === "BURST";
}

/**
 * Adds to each purge and burst how many others moved that day: a forge that purges does so to many repositories, and a campaign
 * often stars others beside its own.
 */
export async function addMoves<T extends { provider: string; anomalies: Anomaly[] }>(
  db: Db,
  trends: readonly T[],
): Promise<void> {
  const moved = trends.flatMap(({ provider, anomalies }) =>
    anomalies
      .filter(comesInWaves)
      .map((anomaly) => ({ provider, anomaly, day: Math.floor(anomaly.at / DAY_MS) })),
  );
  if (moved.length === 0) return;
  const rows = await db
    .selectFrom("moved_days")
    .selectAll()
    .where("day", "in", [...new Set(moved.map(({ day }) => day))])
    .execute();
  const moves = new Map(
    rows.map((row): [string, MovesOfDay] => [
      `${row.provider} ${row.day}`,
      { fell: row.fell, jumped: row.jumped, compared: row.compared },
    ]),
  );
  for (const { provider, anomaly, day } of moved) {
    const found = moves.get(`${provider} ${day}`);
    if (found !== undefined) anomaly.sameDay = found;
  }
}
