/** Deletes a repository with everything stored about it. */
import { sql } from "kysely";
import type { Dialect, TableName, Tx } from "../database/database.js";
import { noteRemoved } from "./outdated.js";
import { deleteRepositories } from "./sample.js";
import { HourCounts } from "./snapshots/hours.js";
import { readReadings } from "./snapshots/snapshots.js";

/** Tables that are derived from repositories one by one. */
const DERIVED: readonly TableName[] = ["rollups", "rank_history", "rank_blocks", "outdated"];

/**
 * Deletes a repository and those that were joined to it, in the caller's transaction, which must hold the catalogue exclusively. Clears
 * tables of other modules as well, as `removeSample` does. Costs its history. Does nothing for an unknown id.
 */
export async function removeRepository(
  tx: Tx,
  dialect: Dialect,
  { id, now }: { id: number; now: number },
): Promise<void> {
  const { rows } = await sql<{ id: number; provider: string }>`with recursive joined (id) as (
      select id from repositories where id = ${id}
      union select n.from_id from renames n join joined j on n.to_id = j.id)
    select r.id, r.provider from repositories r join joined j on j.id = r.id`.execute(tx);
  const ids = rows.map((row) => Number(row.id));
  if (ids.length === 0) return;
  const hours = new HourCounts();
  const readings = await readReadings(tx, dialect, { ids, width: 1, onDamaged: () => {} });
  for (const { id: own, provider } of rows) {
    const times = readings.get(Number(own));
    for (let i = 0; i < (times?.length ?? 0); i++) hours.remove(provider, times?.at(i) ?? 0);
  }
  await hours.write(tx, dialect);
  const here = dialect.among(sql.ref("repository_id"), ids);
  await sql`update watchlists set version = version + 1
    where id in (select watchlist_id from watchlist_items where ${here})`.execute(tx);
  for (const table of ["watchlist_items", "track_requests", ...DERIVED] as const)
    await sql`delete from ${sql.table(table)} where ${here}`.execute(tx);
  const highest = await dialect.lastId(tx);
  await deleteRepositories(tx, dialect, ids);
  await dialect.reserveId(tx, highest);
  await noteRemoved(tx, dialect, { ids, removedAt: now });
}
