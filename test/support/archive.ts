import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Observation, Snapshot } from "../../src/repositories/observation.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Facts } from "../../src/repositories/repository.js";
import { NOW, observation, snapshotAt } from "./world.js";

/** The day of a file, by its number from 0; the last of ten is that of NOW. */
export const dayAt = (day: number): number => NOW - (9 - day) * DAY_MS;

/** A row of a file. */
export interface ArchiveRow {
  fullName: string;
  stars: number;
  forks?: number | null;
  facts?: Facts;
}

export interface ArchiveFile {
  day: number;
  rows: readonly ArchiveRow[];
  isDamaged?: boolean;
}

export const row = (
  fullName: string,
  stars: number,
  facts: Facts = {},
  forks?: number | null,
): ArchiveRow => ({
  fullName,
  stars,
  facts,
  ...(forks === undefined ? {} : { forks }),
});

/** What a row says. */
export function rowObservation(
  { fullName, stars, forks = null, facts }: ArchiveRow,
  at: number,
): Observation {
  const counts: Partial<Snapshot> = { forks };
  return observation(fullName, [snapshotAt(at, stars, counts)], {
    facts: { availability: "AVAILABLE", language: "Go", ...facts },
  });
}

/** Records files of an archive without ids. */
export async function recordArchive(
  { catalog, database }: { catalog: Catalog; database: Database },
  files: readonly ArchiveFile[],
  source = "github-ranking",
): Promise<void> {
  for (const { day, rows, isDamaged = false } of files) {
    const at = dayAt(day);
    await catalog.record(rows.map((one) => ({ ...rowObservation(one, at), source })));
    // By hand: what is damaged depends on the sizes of all files, and these are small.
    const damage = isDamaged ? "[]" : null;
    await sql`insert into import_files (source, captured_at, file, row_count, zeros, damage, imported_at)
      values (${source}, ${at}, ${`${day}.csv`}, ${rows.length}, 0, ${damage}, ${NOW}) on conflict do nothing`.execute(
      database.write,
    );
  }
}

/** The same, and looks for renames. */
export async function importArchive(
  world: { catalog: Catalog; database: Database },
  files: readonly ArchiveFile[],
  source?: string,
): Promise<{ suspected: number; withdrawn: number }> {
  await recordArchive(world, files, source);
  return world.catalog.detectRenames();
}

/** The renames that are stored, as `old → new status`, in the order of names. */
export async function storedRenames({ database }: { database: Database }): Promise<string[]> {
  const rows = await database.read
    .selectFrom("renames")
    .innerJoin("repositories as f", "f.id", "from_id")
    .innerJoin("repositories as t", "t.id", "to_id")
    .select([
      "f.owner as from_owner",
      "f.name as from_name",
      "t.owner as to_owner",
      "t.name as to_name",
      "status",
    ])
    .execute();
  return rows
    .map((one) => `${one.from_owner}/${one.from_name} → ${one.to_owner}/${one.to_name} ${one.status}`)
    .sort();
}
