import { DAY_MS } from "../clock.js";
import type { BulkRow, Db, Dialect, Tx } from "../database/database.js";
import type { Anomaly, FallsOfDay } from "./anomalies.js";
import type { Past } from "./past.js";

/** Counts by day how many repositories had fewer stars than the day before they were looked at. */
export class FallCounter {
  readonly #days = new Map<string, Map<number, { fell: number; compared: number }>>();

  add({ provider, readings }: Past): void {
    let days = this.#days.get(provider);
    if (days === undefined) {
      days = new Map();
      this.#days.set(provider, days);
    }
    let before: number | undefined;
    for (let place = 0; place < readings.length; place++) {
      const day = Math.floor(readings.at(place) / DAY_MS);
      if (Math.floor(readings.at(place + 1) / DAY_MS) === day) continue;
      const stars = readings.stars(place);
      if (before !== undefined) {
        let counts = days.get(day);
        if (counts === undefined) {
          counts = { fell: 0, compared: 0 };
          days.set(day, counts);
        }
        counts.compared++;
        if (stars < before) counts.fell++;
      }
      before = stars;
    }
  }

  async keep(tx: Tx, dialect: Dialect): Promise<void> {
    await tx.deleteFrom("fall_days").execute();
    const rows = [...this.#days].flatMap(([provider, days]) =>
      [...days].map(([day, { fell, compared }]): BulkRow => [provider, day, fell, compared]),
    );
    const columns = { provider: "text", day: "bigint", fell: "bigint", compared: "bigint" } as const;
    await dialect.insertNew(tx, "fall_days", columns, ["provider", "day"], rows);
  }
}

/** Tells each purge how many others fell that day: a purge of a forge happens to many at once. */
export async function withFalls<T extends { provider: string; anomalies: Anomaly[] }>(
  db: Db,
  told: readonly T[],
): Promise<void> {
  const purges = told.flatMap(({ provider, anomalies }) =>
    anomalies
      .filter((one) => one.kind === "PURGE")
      .map((purge) => ({ provider, purge, day: Math.floor(purge.at / DAY_MS) })),
  );
  if (purges.length === 0) return;
  const rows = await db
    .selectFrom("fall_days")
    .selectAll()
    .where("day", "in", [...new Set(purges.map(({ day }) => day))])
    .execute();
  const falls = new Map(
    rows.map((row): [string, FallsOfDay] => [
      `${row.provider} ${row.day}`,
      { fell: row.fell, compared: row.compared },
    ]),
  );
  for (const { provider, purge, day } of purges) {
    const found = falls.get(`${provider} ${day}`);
    if (found !== undefined) purge.sameDay = found;
  }
}
