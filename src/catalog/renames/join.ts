import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import {
  appendSnapshots,
  type Readings,
  readReadings,
  readSnapshotRanges,
  removeEqual,
} from "../snapshots/snapshots.js";
import type { Pair } from "./store.js";

/** Most repositories that an accepted rename is followed through. */
const MAX_CHAIN = 20;

/** A rename with the time before which snapshots of the earlier name are those of the later one. */
export interface Join extends Pair {
  before: number;
}

/** Appends the snapshots of the earlier name to the later one, and to those that continue that one. */
export async function joinHistory(tx: Tx, dialect: Dialect, join: Join): Promise<void> {
  const readings = await historyOf(tx, dialect, join);
  if (readings === undefined) return;
  const lists = [readings.snapshots()];
  const discoveredAt = await discoveryOf(tx, join.fromId);
  for (const { id: repositoryId, provider } of await continuing(tx, dialect, join.toId)) {
    await appendSnapshots(tx, dialect, [{ repositoryId, provider, lists }]);
    await tx
      .updateTable("repositories")
      .set({ discovered_at: discoveredAt })
      .where("id", "=", repositoryId)
      .where("discovered_at", ">", discoveredAt)
      .execute();
  }
}

/** Removes them again. */
export async function partHistory(tx: Tx, dialect: Dialect, join: Join): Promise<void> {
  const readings = await historyOf(tx, dialect, join);
  if (readings === undefined) return;
  const discoveredAt = await discoveryOf(tx, join.fromId);
  for (const { id } of await continuing(tx, dialect, join.toId)) {
    await removeEqual(tx, dialect, { id, readings });
    const first = (await readSnapshotRanges(tx, dialect, [id])).get(id)?.firstSnapshotAt ?? null;
    if (first === null) continue;
    await tx
      .updateTable("repositories")
      .set({ discovered_at: first })
      .where("id", "=", id)
      .where("discovered_at", "=", discoveredAt)
      .execute();
  }
}

/** When a repository was first seen. */
async function discoveryOf(tx: Tx, id: number): Promise<number> {
  const row = await tx
    .selectFrom("repositories")
    .select("discovered_at")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.discovered_at;
}

/** The snapshots of the earlier name that belong to the later one; undefined if there are none. */
async function historyOf(tx: Tx, dialect: Dialect, { fromId, before }: Join): Promise<Readings | undefined> {
  const found = await readReadings(tx, dialect, { ids: [fromId], span: { until: before - 1 } });
  return found.get(fromId);
}

/** A repository, and those that continue it by accepted renames, the earliest first. */
export async function continuing(
  tx: Tx,
  dialect: Dialect,
  id: number,
): Promise<{ id: number; provider: string }[]> {
  const ids = [id];
  for (let next: number | undefined = id; next !== undefined && ids.length < MAX_CHAIN; ) {
    const row = await tx
      .selectFrom("renames")
      .select("to_id")
      .where("from_id", "=", next)
      .where("status", "=", "ACCEPTED")
      .executeTakeFirst();
    next = row === undefined || ids.includes(row.to_id) ? undefined : row.to_id;
    if (next !== undefined) ids.push(next);
  }
  return tx
    .selectFrom("repositories")
    .select(["id", "provider"])
    .where(dialect.among(sql.ref("id"), ids))
    .orderBy("id")
    .execute();
}
