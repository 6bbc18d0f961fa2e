import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CatalogueKind, Repository } from "../catalog/catalog.js";
import { type Clock, isoTime } from "../clock.js";
import { syncFolder } from "../database/database.js";
import { type DumpedCatalog, dumpPages } from "./dump-pages.js";
import { MonthFiles } from "./month-files.js";
import { ParquetFile, type WrittenFile } from "./parquet-file.js";
import { REPOSITORY_COLUMNS, RepositoryRows } from "./parquet-rows.js";
import { openWorkFolder } from "./work-folder.js";

/** A row group has at most this many repositories, and texts of about this many characters. */
const GROUP_REPOSITORIES = 20_000;
const GROUP_CHARACTERS = 8_000_000;
const REPOSITORIES = "repositories.parquet";
const SNAPSHOTS = "snapshots";
const SUMS = "SHA256SUMS";
export const MANIFEST = "manifest.json";
/** Changes when a reader of an earlier version may fail. */
export const PARQUET_VERSION = 1;

/** One file, by its path below the folder, with forward slashes. */
export interface ParquetEntry extends WrittenFile {
  path: string;
}

/** What a folder of Parquet files has. It is its file `manifest.json`, which is written last. */
export interface ParquetManifest {
  format: "sidereal-parquet";
  version: typeof PARQUET_VERSION;
  /** Time at which reading began, ISO 8601: everything recorded before is in the files. */
  asOf: string;
  catalogue: CatalogueKind;
  repositoryCount: number;
  snapshots: number;
  /** The repositories, then the months, oldest first. */
  files: readonly ParquetEntry[];
}

export interface ParquetOptions {
  clock: Clock;
  /** Gets the number of repositories written so far. */
  onProgress?: (repositories: number) => void;
  /** Whether a repository is left out, with its snapshots; by default none is. */
  omits?: (repository: Pick<Repository, "availability">) => boolean;
  signal?: AbortSignal;
}

/**
 * Writes the catalogue as Parquet files to a folder, in place of an earlier export there; other files in it are left alone. All
 * is written to a folder inside it first and moved when it is complete. Rows are in the order of repository, then time. Memory is
 * bounded whatever the size of the catalogue. Throws Refusal if another process is writing there.
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

/** Writes the files to an empty folder, the manifest last. Throws the reason of `signal` when that is aborted. */
export async function writeParquet(
  catalog: DumpedCatalog,
  folder: string,
  { clock, onProgress = () => {}, omits = () => false, signal }: ParquetOptions,
): Promise<ParquetManifest> {
  const asOf = isoTime(clock.now());
  const catalogue = await catalog.kind();
  // Without a time, so that the file of a month that has not changed is the same in the next export.
  const metadata = { "sidereal.version": String(PARQUET_VERSION) };
  const repositories = new ParquetFile(join(folder, REPOSITORIES), REPOSITORY_COLUMNS, metadata);
  const months = new MonthFiles(join(folder, SNAPSHOTS), metadata);
  await mkdir(join(folder, SNAPSHOTS), { mode: 0o700 });
  const rows = new RepositoryRows();
  let done = 0;
  for await (const page of dumpPages(catalog)) {
    signal?.throwIfAborted();
    for (const dumped of page) {
      if (omits(dumped.repository)) continue;
      rows.add(dumped);
      if (rows.length >= GROUP_REPOSITORIES || rows.characters >= GROUP_CHARACTERS)
        await repositories.add(rows.take());
      for (const snapshot of dumped.snapshots) {
        const written = months.add(dumped.repository.id, snapshot);
        if (written !== undefined) await written;
      }
    }
    done += page.length;
    onProgress(done);
  }
  if (rows.length > 0) await repositories.add(rows.take());
  const files = [
    { path: REPOSITORIES, ...(await repositories.finish()) },
    ...(await months.finish()).map(({ month, ...file }) => ({
      path: `${SNAPSHOTS}/${month}.parquet`,
      ...file,
    })),
  ];
  const [first = { rows: 0 }, ...others] = files;
  const manifest: ParquetManifest = {
    format: "sidereal-parquet",
    version: PARQUET_VERSION,
    asOf,
    catalogue,
    repositoryCount: first.rows,
    snapshots: others.reduce((sum, file) => sum + file.rows, 0),
    files,
  };
  await writeFile(join(folder, SUMS), sumsOf(manifest), { mode: 0o600, flush: true });
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  await syncFolder(join(folder, SNAPSHOTS));
  await syncFolder(folder);
  return manifest;
}

/** The checksums of the files, for `sha256sum -c`. */
export function sumsOf({ files }: Pick<ParquetManifest, "files">): string {
  return files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join("");
}

/** Puts complete files in place of earlier ones. The manifest goes first and comes last: with it, the files are of one export. */
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
