import type { Database } from "../../src/database/database.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { readReadings } from "../../src/repositories/snapshots/read.js";

/** The snapshots of one repository, oldest first. */
export async function snapshotsOf({ read, dialect }: Database, id: number): Promise<Snapshot[]> {
  return (await readReadings(read, dialect, { ids: [id] })).get(id)?.snapshots() ?? [];
}

/** All snapshots of a database with the ids of their repositories, by id and time. */
export async function allSnapshots(database: Database): Promise<(Snapshot & { repositoryId: number })[]> {
  const rows = await database.read.selectFrom("repositories").select("id").orderBy("id").execute();
  const all: (Snapshot & { repositoryId: number })[] = [];
  for (const { id } of rows) {
    for (const snapshot of await snapshotsOf(database, id)) all.push({ repositoryId: id, ...snapshot });
  }
  return all;
}
