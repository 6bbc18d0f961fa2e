/** Exports the catalogue as Parquet files: one of repositories, and one of snapshots for each month. */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../database/database.js";
import { type Clock, isoTime } from "../lib/clock.js";
import type {
  Catalog,
  CatalogueKind,
  DumpedRepository,
  Repository,
  Snapshot,
} from "../repositories/repositories.js";
import { ParquetFile, type WrittenFile } from "./parquet-file.js";
import { REPOSITORY_COLUMNS, RepositoryRows, SNAPSHOT_COLUMNS, SnapshotRows } from "./parquet-rows.js";
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

/** The file `manifest.json` in a folder of Parquet files, which is written last. */
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
 * Writes the catalogue as Parquet files to a folder. Replaces an earlier export there; other files in it are left alone. All
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

/** What an export reads of the catalogue. */
export type DumpedCatalog = Pick<Catalog, "dump" | "kind">;

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

/** Most snapshots in a row group: large enough to be read quickly, and written within half a second. */
const GROUP_SNAPSHOTS = 131_072;
/** Most snapshots of all months that wait to be written, of 56 bytes each. */
const WAITING_SNAPSHOTS = 1_000_000;

/** Bounds of waiting snapshots; tests use smaller ones. */
interface Bounds {
  group: number;
  waiting: number;
}

interface Month {
  month: string;
  file: ParquetFile;
  rows: SnapshotRows;
}

/**
 * One Parquet file of snapshots for each month (UTC), all written at the same time, since the catalogue is read repository by
 * repository. Rows stay in the order in which they are added.
 */
export class MonthFiles {
  readonly #folder: string;
  readonly #metadata: Readonly<Record<string, string>>;
  readonly #bounds: Bounds;
  readonly #months = new Map<string, Month>();
  #waiting = 0;
  /** The month of the last snapshot, and its bounds in ms since 1970. */
  #last: { month: Month; from: number; until: number } | undefined;

  /** `metadata` goes into each file. */
  constructor(
    folder: string,
    metadata: Readonly<Record<string, string>>,
    bounds: Bounds = { group: GROUP_SNAPSHOTS, waiting: WAITING_SNAPSHOTS },
  ) {
    this.#folder = folder;
    this.#metadata = metadata;
    this.#bounds = bounds;
  }

  /** A promise only if the row completes a row group: then no other may be added before it resolves. */
  add(repositoryId: number, snapshot: Snapshot): Promise<void> | undefined {
    const month = this.#monthOf(snapshot.capturedAt);
    month.rows.add(repositoryId, snapshot);
    this.#waiting++;
    if (month.rows.length >= this.#bounds.group) return this.#write(month);
    if (this.#waiting < this.#bounds.waiting) return undefined;
    const largest = [...this.#months.values()].reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
    return this.#write(largest);
  }

  /** Writes the rest. Returns the files, oldest month first. */
  async finish(): Promise<(WrittenFile & { month: string })[]> {
    const finished: (WrittenFile & { month: string })[] = [];
    const months = [...this.#months.values()].sort((a, b) => (a.month < b.month ? -1 : 1));
    for (const month of months) {
      if (month.rows.length > 0) await this.#write(month);
      finished.push({ month: month.month, ...(await month.file.finish()) });
    }
    return finished;
  }

  #write({ file, rows }: Month): Promise<void> {
    this.#waiting -= rows.length;
    return file.add(rows.take());
  }

  #monthOf(at: number): Month {
    if (this.#last !== undefined && at >= this.#last.from && at < this.#last.until) return this.#last.month;
    const name = isoTime(at).slice(0, 7);
    let month = this.#months.get(name);
    if (month === undefined) {
      const file = new ParquetFile(join(this.#folder, `${name}.parquet`), SNAPSHOT_COLUMNS, this.#metadata);
      month = { month: name, file, rows: new SnapshotRows() };
      this.#months.set(name, month);
    }
    const date = new Date(at);
    const [year, index] = [date.getUTCFullYear(), date.getUTCMonth()];
    this.#last = { month, from: Date.UTC(year, index), until: Date.UTC(year, index + 1) };
    return month;
  }
}
