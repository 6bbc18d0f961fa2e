import { DAY_MS } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Facts, Observation } from "../../src/repositories/repository.js";
import { NOW, observation, snapshotAt } from "./world.js";

/** The day of a file, by its number from 0; the last of ten is that of NOW. */
export const dayAt = (day: number): number => NOW - (9 - day) * DAY_MS;

/** A row of a file: a full name and its stars, and other facts than those of most rows. */
export type ArchiveRow = readonly [fullName: string, stars: number, more?: Facts & { providerId?: string }];

const FACTS: Facts = { availability: "AVAILABLE", description: "A tool that does many things" };

/** What a row says. */
export function rowObservation([fullName, stars, more = {}]: ArchiveRow, day: number): Observation {
  const { providerId, ...facts } = more;
  const counts = facts.forks === undefined ? {} : { forks: facts.forks };
  return {
    ...observation(fullName, [snapshotAt(dayAt(day), stars, counts)], { facts: { ...FACTS, ...facts } }),
    ...(providerId === undefined ? {} : { providerId }),
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
