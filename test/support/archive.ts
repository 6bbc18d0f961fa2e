import { DAY_MS } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Facts, Observation } from "../../src/repositories/repository.js";
import { NOW, observation, snapshotAt } from "./world.js";

/** The day of a file, by its number from 0; the last of ten is that of NOW. */
export const dayAt = (day: number): number => NOW - (9 - day) * DAY_MS;

/** A row of a file: a full name and its stars. */
type ArchiveRow = readonly [fullName: string, stars: number];

const FACTS: Facts = { availability: "AVAILABLE", description: "A tool that does many things" };

/** What a row says. */
export function rowObservation([fullName, stars]: ArchiveRow, day: number): Observation {
  return {
    ...observation(fullName, [snapshotAt(dayAt(day), stars)], { facts: FACTS }),
    source: "github-ranking",
  };
}

/** Imports the file of a day of an archive without ids. */
export async function importDay(catalog: Catalog, day: number, ...rows: ArchiveRow[]): Promise<void> {
  await catalog.record(rows.map((one) => rowObservation(one, day)));
  await catalog.recordFiles([
    {
      source: "github-ranking",
      capturedAt: dayAt(day),
      file: `${day}.csv`,
      rows: rows.length,
      zeros: 0,
      damage: [],
    },
  ]);
}
