/** Writes the catalogue as Parquet files: one of repositories, and one of snapshots for each month. */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { syncFolder } from "../database/database.js";
import { type Clock, isoTime } from "../lib/clock.js";
import { CATALOGUE_KINDS, type Catalog, type DumpedRepository } from "../repositories/repositories.js";
import { ParquetFile } from "./parquet-file.js";
import { openWorkFolder } from "./work-folder.js";

/** A row group has at most this many rows, and repositories with texts of about this many characters. */
const GROUP_REPOSITORIES = 20_000;
const GROUP_CHARACTERS = 8_000_000;
const GROUP_SNAPSHOTS = 131_072;
/** Most snapshots of all months that wait to be written, of some 60 bytes each. */
const WAITING_SNAPSHOTS = 1_000_000;
const REPOSITORIES = "repositories.parquet";
const SNAPSHOTS = "snapshots";
const SUMS = "SHA256SUMS";
export const MANIFEST = "manifest.json";

const count = z.int().nonnegative();

/** The file `manifest.json` in a folder of Parquet files, which is written last. */
export const manifestSchema = z.object({
  format: z.literal("sidereal-parquet"),
  /** Changes when a reader of an earlier version may fail. */
  version: z.literal(1),
  /** Time at which reading began, ISO 8601: everything recorded before is in the files. */
  asOf: z.iso.datetime(),
  catalogue: z.enum(CATALOGUE_KINDS),
  repositoryCount: count,
  snapshots: count,
  /** The repositories, then the months, oldest first; with paths below the folder, with forward slashes. */
  files: z.array(
    z.object({
      path: z.string().regex(/^(?:repositories|snapshots\/\d{4}-\d\d)\.parquet$/),
      bytes: count,
      rows: count,
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});
export type ParquetManifest = z.output<typeof manifestSchema>;

export interface ParquetOptions {
  clock: Clock;
  /** Gets the number of repositories written so far. */
  onProgress?: (repositories: number) => void;
  signal?: AbortSignal;
  /** Bounds of snapshots in a row group, and of those that wait to be written; tests use smaller ones. */
  bounds?: { group: number; waiting: number };
}

/** What an export reads of the catalogue. */
export type DumpedCatalog = Pick<Catalog, "dump" | "kind">;

/** Columns of `repositories.parquet`. `null` means unknown or never reported. */
const REPOSITORY_COLUMNS = {
  id: "integer",
  provider: "text",
  provider_id: "text?",
  full_name: "text",
  url: "text",
  description: "text?",
  homepage: "text?",
  language: "text?",
  license: "text?",
  topics: "texts",
  stars: "integer?",
  forks: "integer?",
  open_issues: "integer?",
  watchers: "integer?",
  fork: "flag?",
  archived: "flag?",
  availability: "text",
  created_at: "time?",
  pushed_at: "time?",
  discovered_at: "time",
  refreshed_at: "time?",
  import_source: "text?",
  previous_full_names: "names",
} as const;

/** Columns of `snapshots/YYYY-MM.parquet`. */
const SNAPSHOT_COLUMNS = {
  repository_id: "integer",
  captured_at: "time",
  stars: "integer",
  forks: "integer?",
  open_issues: "integer?",
  watchers: "integer?",
  source: "text",
} as const;

function repositoryRow({ repository, providerId, previousNames }: DumpedRepository) {
  const previousFullNames = previousNames.map(({ fullName, until }) => ({ full_name: fullName, until }));
  return { ...repository, providerId, previousFullNames };
}

/**
 * Writes the catalogue as Parquet files to a folder. Replaces an earlier export there; other files in it are left alone. All
 * is written to a folder inside it first and moved when it is complete. Throws Refusal if another process is writing there.
 */
export async function exportParquet(
  catalog: DumpedCatalog,
  folder: string,
  options: ParquetOptions,
): Promise<ParquetManifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const work = await openWorkFolder(folder, options.clock);
  try {
    const manifest = await writeParquet(catalog, work, options);
    await moveInto(folder, work, manifest);
    return manifest;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Writes the files to an empty folder, the manifest last. Rows are in the order of repository, then time. Memory is bounded whatever the
 * size of the catalogue. Throws the reason of `signal` when that is aborted.
 */
export async function writeParquet(
  catalog: DumpedCatalog,
  folder: string,
  { clock, onProgress = () => {}, signal, bounds }: ParquetOptions,
): Promise<ParquetManifest> {
  const { group, waiting: most } = bounds ?? { group: GROUP_SNAPSHOTS, waiting: WAITING_SNAPSHOTS };
  const asOf = isoTime(clock.now());
  const catalogue = await catalog.kind();
  // Without a time, so that the file of a month that has not changed is the same in the next export.
  const metadata = { "sidereal.version": "1" };
  const repositories = new ParquetFile(join(folder, REPOSITORIES), REPOSITORY_COLUMNS, metadata);
  await mkdir(join(folder, SNAPSHOTS), { mode: 0o700 });
  // One file for each month (UTC), all written at the same time, since the catalogue is read repository by repository.
  const months = new Map<string, ParquetFile>();
  const monthOf = (capturedAt: number) => {
    const path = `${SNAPSHOTS}/${isoTime(capturedAt).slice(0, 7)}.parquet`;
    let file = months.get(path);
    if (file === undefined) {
      file = new ParquetFile(join(folder, path), SNAPSHOT_COLUMNS, metadata);
      months.set(path, file);
    }
    return file;
  };
  let done = 0;
  let waiting = 0;
  for await (const page of dumpPages(catalog)) {
    signal?.throwIfAborted();
    for (const dumped of page) {
      repositories.add(repositoryRow(dumped));
      if (repositories.waiting >= GROUP_REPOSITORIES || repositories.characters >= GROUP_CHARACTERS)
        await repositories.flush();
      for (const snapshot of dumped.snapshots) {
        const month = monthOf(snapshot.capturedAt);
        month.add({ ...snapshot, repositoryId: dumped.repository.id });
        waiting++;
        if (month.waiting < group && waiting < most) continue;
        const largest = [...months.values()].reduce((a, b) => (b.waiting > a.waiting ? b : a));
        waiting -= largest.waiting;
        await largest.flush();
      }
    }
    done += page.length;
    onProgress(done);
  }
  const files = [{ path: REPOSITORIES, ...(await repositories.finish()) }];
  for (const [path, file] of [...months].sort(([a], [b]) => (a < b ? -1 : 1)))
    files.push({ path, ...(await file.finish()) });
  const [first = { rows: 0 }, ...others] = files;
  const manifest: ParquetManifest = {
    format: "sidereal-parquet",
    version: 1,
    asOf,
    catalogue,
    repositoryCount: first.rows,
    snapshots: others.reduce((sum, { rows }) => sum + rows, 0),
    files,
  };
  const flushed = { mode: 0o600, flush: true };
  await writeFile(join(folder, SUMS), sumsOf(manifest), flushed);
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, flushed);
  await syncFolder(join(folder, SNAPSHOTS));
  await syncFolder(folder);
  return manifest;
}

/** The checksums of the files, for `sha256sum -c`. */
export function sumsOf({ files }: Pick<ParquetManifest, "files">): string {
  return files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join("");
}

/** Replaces earlier files by complete ones. The manifest goes first and comes last: with it, the files are of one export. */
async function moveInto(folder: string, work: string, { files }: ParquetManifest): Promise<void> {
  await rm(join(folder, MANIFEST), { force: true });
  await mkdir(join(folder, SNAPSHOTS), { recursive: true, mode: 0o700 });
  const paths = files.map(({ path }) => path);
  for (const name of await readdir(join(folder, SNAPSHOTS)))
    if (/^\d{4}-\d\d\.parquet$/.test(name) && !paths.includes(`${SNAPSHOTS}/${name}`))
      await rm(join(folder, SNAPSHOTS, name));
  for (const path of [...paths, SUMS, MANIFEST]) await rename(join(work, path), join(folder, path));
  await syncFolder(join(folder, SNAPSHOTS));
  await syncFolder(folder);
}

/** Repositories per query. */
const DUMP_PAGE = 200;

/** All repositories in the order of their ids, a page at a time, each in a short transaction of its own. */
export async function* dumpPages(catalog: Pick<DumpedCatalog, "dump">): AsyncGenerator<DumpedRepository[]> {
  for (let after = 0; ; ) {
    const page = await catalog.dump(after, DUMP_PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.repository.id;
  }
}
