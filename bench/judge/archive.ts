/**
 * Public archives of daily counts as histories in memory, read by the importer's own parsers. A parsed archive is kept in the
 * system's temporary folder: parsing takes half a minute, loading less than a second.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { DAY_MS, systemClock } from "../../src/lib/clock.js";
import { COLUMNS, numbersOf, Readings } from "../../src/repositories/snapshots/readings.js";
import { readCsv } from "../../src/transfer/csv.js";
import { readManifest } from "../../src/transfer/transfer.js";

/** One repository of an archive, by its name, oldest reading first. */
export interface Track {
  name: string;
  readings: Readings;
  /** The last push as known at each reading, in ms; NaN: unknown. */
  pushed: Float64Array;
  createdAt: number | null;
}

export interface Archive {
  /** Name of its format, which recency goes by. */
  source: string;
  /** Capture times of its files, in order. */
  times: number[];
  tracks: Track[];
}

/** The archives of the data folder: where they are, and their format. */
export const ARCHIVES = {
  daily: {
    folder: "github-ranking/daily",
    manifest: "github-ranking/manifest.csv",
    source: "github-ranking",
  },
  weekly: {
    folder: "github-ranking/weekly",
    manifest: "github-ranking/manifest.csv",
    source: "github-ranking",
  },
  "awesome-go": { folder: "awesome-go", manifest: "awesome-go/manifest.csv", source: "awesome-go" },
} as const;
export type ArchiveName = keyof typeof ARCHIVES;

/** A file committed longer than this after its date was not taken then. */
const MOST_LATE_MS = 2 * DAY_MS;
/** Bumped when what is stored changes. */
const STORED_VERSION = 2;

/** Ends the process with a message if the data folder has no such archive. */
export function requireData(data: string | undefined, name: ArchiveName): string {
  const folder = data === undefined ? undefined : join(data, ARCHIVES[name].folder);
  if (data !== undefined && folder !== undefined && existsSync(folder)) return data;
  process.stderr.write(
    data === undefined
      ? "The first argument must be the data folder, with github-ranking, awesome-go and trending in it.\n"
      : `${folder} is missing: the first argument must be the data folder, with github-ranking, awesome-go and trending in it.\n`,
  );
  process.exit(2);
}

/** `cache`: the folder for the parsed archive. */
export async function loadArchive(data: string, name: ArchiveName, cache = tmpdir()): Promise<Archive> {
  const { folder, source } = ARCHIVES[name];
  const packed = archivesIn(join(data, folder));
  const content = createHash("sha256");
  for (const path of packed) content.update(readFileSync(path));
  const stored = join(
    cache,
    `sidereal-judge-${name}-${STORED_VERSION}-${content.digest("hex").slice(0, 16)}.v8`,
  );
  if (!existsSync(stored)) {
    const parsed = await parse(data, name);
    writeFileSync(`${stored}.${process.pid}`, serialize(parsed));
    renameSync(`${stored}.${process.pid}`, stored);
  }
  const { times, names, lengths, numbers, pushed, created }: Stored = deserialize(readFileSync(stored));
  let at = 0;
  const tracks = names.map((track, i): Track => {
    const length = lengths[i] ?? 0;
    const end = at + length;
    const readings = new Readings(numbers.subarray(at * COLUMNS, end * COLUMNS));
    const own = { name: track, readings, pushed: pushed.subarray(at, end), createdAt: created[i] ?? null };
    at = end;
    return own;
  });
  return { source, times, tracks };
}

interface Stored {
  times: number[];
  names: string[];
  /** Readings of each name. */
  lengths: number[];
  numbers: Float64Array;
  pushed: Float64Array;
  created: (number | null)[];
}

function archivesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".tar.xz") && !file.startsWith("stars-history"))
    .sort()
    .map((file) => join(folder, file));
}

/** A file of an archive. */
export interface DayFile {
  path: string;
  /** Date in its name. */
  date: string;
  capturedAt: number;
}

export function manifestOf(data: string, name: ArchiveName): string {
  return join(data, ARCHIVES[name].manifest);
}

/** Unpacks an archive into a folder. Its files, oldest first. */
export function unpackArchive(data: string, name: ArchiveName, folder: string): DayFile[] {
  const manifest = readManifest(readFileSync(manifestOf(data, name), "utf8"), systemClock.now());
  for (const packed of archivesIn(join(data, ARCHIVES[name].folder)))
    execFileSync("tar", ["xJf", packed, "-C", folder]);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".csv"))
    .map((file): DayFile => {
      const date = /\d{4}-\d{2}-\d{2}/.exec(file)?.[0] ?? "";
      const committed = manifest.get(basename(file));
      if (committed === undefined) throw new Error(`${file} is not in the manifest`);
      // Years of old files were committed within minutes: there the date in the name is right.
      const noon = Date.parse(`${date}T12:00:00Z`);
      const capturedAt = Math.abs(committed - noon) > MOST_LATE_MS ? noon : committed;
      return { path: join(folder, file), date, capturedAt };
    })
    .sort((a, b) => a.capturedAt - b.capturedAt);
}

interface Building {
  numbers: number[];
  pushed: number[];
  createdAt: number | null;
}

async function parse(data: string, name: ArchiveName): Promise<Stored> {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-judge-"));
  const tracks = new Map<string, Building>();
  const times: number[] = [];
  try {
    for (const { path, capturedAt } of unpackArchive(data, name, folder)) {
      times.push(capturedAt);
      await addFile(tracks, path, capturedAt);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const all = [...tracks.values()];
  return {
    times,
    names: [...tracks.keys()],
    lengths: all.map(({ pushed }) => pushed.length),
    numbers: Float64Array.from(all.flatMap(({ numbers }) => numbers)),
    pushed: Float64Array.from(all.flatMap(({ pushed }) => pushed)),
    created: all.map(({ createdAt }) => createdAt),
  };
}

/** Adds the rows of one file. Of several rows of a repository the first stays, as in an import. */
async function addFile(tracks: Map<string, Building>, path: string, capturedAt: number): Promise<void> {
  for await (const lines of readCsv(createReadStream(path), { name: path, capturedAt, clock: systemClock })) {
    for (const line of lines) {
      if (!("observation" in line)) continue;
      const { owner, name, facts, snapshots } = line.observation;
      const key = `${owner}/${name}`.toLowerCase();
      let track = tracks.get(key);
      if (track === undefined) {
        track = { numbers: [], pushed: [], createdAt: null };
        tracks.set(key, track);
      }
      if (track.numbers.at(-COLUMNS) === capturedAt) continue;
      for (const snapshot of snapshots) track.numbers.push(...numbersOf(snapshot));
      track.pushed.push(facts.pushedAt ?? Number.NaN);
      track.createdAt = facts.createdAt ?? track.createdAt;
    }
  }
}
