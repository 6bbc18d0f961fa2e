import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { z } from "zod";
import { type Observation, type Snapshot, splitFullName } from "../repositories/repositories.js";

/** The version that scripts/build-sample.ts writes and this program reads. */
export const VERSION = 2;

const time = z.iso.datetime();
/** One number per time: the difference from the last known value, or null without a reading. */
const differences = z.array(z.int().nullable());

const repositorySchema = z.strictObject({
  fullName: z.string(),
  description: z.string().nullable(),
  topics: z.array(z.string()),
  language: z.string().nullable(),
  createdAt: time.nullable(),
  pushedAt: time.nullable(),
  previousNames: z.array(z.strictObject({ fullName: z.string(), until: time })).optional(),
  stars: differences,
  forks: differences,
  openIssues: differences,
});
export type SampleRepository = z.infer<typeof repositorySchema>;

/**
 * The bundled sample: repositories of GitHub and their counts at common times, column by column. It is read in a tenth of
 * the time of the same history as NDJSON.
 */
const sampleSchema = z.strictObject({
  format: z.literal("sidereal-sample"),
  version: z.literal(VERSION),
  /** Ascending. */
  times: z.array(time).min(1),
  repositories: z.array(repositorySchema),
});
export type SampleFile = z.infer<typeof sampleSchema>;

/** Reads a compressed sample file. Throws when it cannot be read or is not one. */
export async function readSample(path: URL): Promise<Observation[]> {
  const json = await promisify(zstdDecompress)(await readFile(path));
  const { times, repositories } = sampleSchema.parse(JSON.parse(json.toString("utf8")));
  const capturedAt = times.map((text) => Date.parse(text));
  return repositories.map((repository) => observationOf(repository, capturedAt));
}

function observationOf(repository: SampleRepository, times: readonly number[]): Observation {
  const { fullName, description, topics, language, createdAt, pushedAt, previousNames } = repository;
  const parts = splitFullName(fullName);
  if (parts === undefined)
    throw new Error(`the sample names ${fullName}, which is not of the form owner/name`);
  const forks = running(repository.forks);
  const openIssues = running(repository.openIssues);
  const snapshots = running(repository.stars).flatMap((stars, i): Snapshot[] => {
    const at = times[i];
    if (stars === null || at === undefined) return [];
    const counts = { stars, forks: forks[i] ?? null, openIssues: openIssues[i] ?? null, watchers: null };
    return [{ capturedAt: at, ...counts, source: "IMPORTED" }];
  });
  const newest = snapshots.at(-1);
  return {
    provider: "GITHUB",
    ...parts,
    at: newest?.capturedAt ?? null,
    facts: {
      url: `https://github.com/${fullName}`,
      description,
      topics,
      language,
      createdAt: createdAt === null ? null : Date.parse(createdAt),
      pushedAt: pushedAt === null ? null : Date.parse(pushedAt),
      availability: "AVAILABLE",
      ...(newest && { stars: newest.stars, forks: newest.forks, openIssues: newest.openIssues }),
    },
    snapshots,
    previousNames: (previousNames ?? []).map((one) => ({
      fullName: one.fullName,
      until: Date.parse(one.until),
    })),
  };
}

/** The values behind a column of differences. */
function running(differences: readonly (number | null)[]): (number | null)[] {
  let value = 0;
  return differences.map((difference) => {
    if (difference === null) return null;
    value += difference;
    return value;
  });
}
