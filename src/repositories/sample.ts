/** Removal of the bundled sample, and of single repositories. */
import { sql } from "kysely";
import type { Dialect, TableName, Tx } from "../database/database.js";
import { GROWTH_SWEEP, markOutdated, noteChanges, noteRemoved } from "./changes.js";
import { HourCounts, readReadings, recountHours } from "./snapshots/snapshots.js";

/** Tables whose rows all follow from the catalogue. Cleared with the sample, and rebuilt for the repositories that stay. */
export const DERIVED_TABLES: readonly TableName[] = [
  "rollups",
  "rank_history",
  "rank_blocks",
  "summaries",
  "outdated",
];

/** Tables with rows for single repositories, in an order that foreign keys allow. */
export const REPOSITORY_TABLES: readonly TableName[] = [
  "previous_names",
  "snapshots",
  "snapshot_blocks",
  "tracking",
  "hidden_repositories",
];

/** Deletes repositories with their snapshots, names and schedule. Their derived rows and items of watchlists must be deleted before. */
async function deleteRepositories(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  for (const table of REPOSITORY_TABLES)
    await sql`delete from ${sql.table(table)} where ${dialect.among(sql.ref("repository_id"), ids)}`.execute(
      tx,
    );
  for (const name of ["from_id", "to_id"])
    await sql`delete from renames where ${dialect.among(sql.ref(name), ids)}`.execute(tx);
  await sql`delete from repositories where ${dialect.among(sql.ref("id"), ids)}`.execute(tx);
}

/**
 * Removes the sample, which the catalogue must hold, with everything derived from it. Saved repositories stay with
 * their snapshots, as ordinary imported history whose growth, ranks and facets are marked outdated. Afterwards the catalogue
 * equals one that never held the rest, except that their ids are not used again.
 *
 * This also clears tables that belong to growth, discovery and tracking: they must change in the same transaction, so that
 * no reader sees ranks of repositories that are gone.
 */
export async function removeSample(tx: Tx, dialect: Dialect, now: number): Promise<void> {
  const saved = await sql<{ id: number }>`select distinct repository_id as id from watchlist_items`.execute(
    tx,
  );
  const kept = new Set(saved.rows.map(({ id }) => Number(id)));
  const all = await tx.selectFrom("repositories").select("id").orderBy("id").execute();
  const removed = all.map(({ id }) => id).filter((id) => !kept.has(id));
  for (const table of DERIVED_TABLES) await sql`delete from ${sql.table(table)}`.execute(tx);
  await deleteRepositories(tx, dialect, removed);
  const highest = all.at(-1)?.id;
  if (highest !== undefined) await dialect.reserveId(tx, highest);
  await recountHours(tx, dialect, [...kept]);
  await tx.deleteFrom("status_documents").where("name", "=", GROWTH_SWEEP).execute();
  await markOutdated(tx, dialect, { rollups: kept });
  await noteChanges(tx, dialect, kept);
  await noteRemoved(tx, dialect, removed, now);
}

/** Tables that are derived from repositories one by one. */
const DERIVED: readonly TableName[] = ["rollups", "rank_history", "rank_blocks", "outdated"];

/**
 * Deletes repositories and those that were joined to them, in the caller's transaction, which must hold the catalogue exclusively. Clears
 * tables of other modules as well, as `removeSample` does. Takes time in proportion to their histories. Does nothing for an unknown id.
 */
export async function removeRepositories(
  tx: Tx,
  dialect: Dialect,
  given: readonly number[],
  now: number,
): Promise<void> {
  if (given.length === 0) return;
  const { rows } = await sql<{ id: number; provider: string }>`with recursive joined (id) as (
      select id from repositories where ${dialect.among(sql.ref("id"), given)}
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
  for (const table of ["watchlist_items", "wanted", ...DERIVED] as const)
    await sql`delete from ${sql.table(table)} where ${here}`.execute(tx);
  const highest = await dialect.lastId(tx);
  await deleteRepositories(tx, dialect, ids);
  await dialect.reserveId(tx, highest);
  await noteRemoved(tx, dialect, ids, now);
}
