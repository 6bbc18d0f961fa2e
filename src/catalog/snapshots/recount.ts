import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { HourCounts } from "./hours.js";
import { readReadings } from "./read.js";

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
