/**
 * Dumps: dated folders with the public catalogue as Parquet files, for everybody to download. A dump is complete from the moment it has
 * its name, never changes, and has repositories, their names and snapshots, and nothing of people. The list of files comes from
 * manifests, never from a request. How files are sent is up to the API.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { syncFolder } from "../../database/database.js";
import { type Clock, DAY_MS, HOUR_MS } from "../../lib/clock.js";
import { CATALOGUE_KINDS, type Catalog } from "../../repositories/repositories.js";
import { MANIFEST, type ParquetManifest, type ParquetOptions, writeParquet } from "../parquet.js";
import { Refusal } from "../values.js";
import { openWorkFolder } from "../work-folder.js";

export { sumsOf } from "../parquet.js";

/** A file of a dump. */
export interface DumpFile {
  /** On this machine. */
  location: string;
  /** Below the folder of the dump. */
  path: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** How long the list of dumps is remembered. */
const REMEMBERED_MS = 2_000;

/** The dumps in a folder. */
export class Dumps {
  readonly #folder: string;
  readonly #clock: Clock;
  #last: { at: number; dumps: Promise<Dump[]> } | undefined;
  /** Those that were listed last. */
  #known: readonly Dump[] = [];

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** All complete dumps, newest first, at most 100. A new one is listed within two seconds. */
  list(): Promise<Dump[]> {
    const now = this.#clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= REMEMBERED_MS)
      this.#last = { at: now, dumps: this.#read() };
    return this.#last.dumps;
  }

  async #read(): Promise<Dump[]> {
    const dumps = await readDumps(this.#folder, this.#known);
    this.#known = dumps;
    return dumps;
  }

  /** A file by the name of its dump and its path; undefined if no manifest has it. */
  async find(name: string, path: string): Promise<DumpFile | undefined> {
    const dump = (await this.list()).find((one) => one.name === name);
    const file = dump?.files.find((one) => one.path === path);
    if (dump === undefined || file === undefined) return undefined;
    return { ...file, location: join(this.#folder, dump.name, file.path) };
  }
}

/** Whether the newest dump in a folder is so old that another one is due. One of a clock that was ahead does not count. */
export async function isDumpDue(
  folder: string,
  { now, everyDays }: { now: number; everyDays: number },
): Promise<boolean> {
  const newest = (await readDumps(folder)).find(({ asOf }) => Date.parse(asOf) <= now + HOUR_MS);
  // An hour less, so that a dump a day does not come later each day.
  return newest === undefined || now - Date.parse(newest.asOf) >= everyDays * DAY_MS - HOUR_MS;
}

/** A complete dump. */
export interface Dump extends ParquetManifest {
  /** The time of `asOf`, such as `20260430T120000Z`, which is the name of its folder. */
  name: string;
}

const count = z.int().nonnegative();
const manifestSchema = z.object({
  format: z.literal("sidereal-parquet"),
  version: z.literal(1),
  asOf: z.iso.datetime(),
  catalogue: z.enum(CATALOGUE_KINDS),
  repositoryCount: count,
  snapshots: count,
  files: z.array(
    z.object({
      path: z.string().regex(/^(?:repositories|snapshots\/\d{4}-\d\d)\.parquet$/),
      bytes: count,
      rows: count,
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

/** Maximum number of dumps that are listed. */
const MOST_LISTED = 100;

/** The name of a dump made at a time (ISO 8601, UTC): `20260430T120000Z`. */
function dumpName(asOf: string): string {
  return asOf.replaceAll(/[-:]|\.\d+/g, "");
}

function isDumpName(name: string): boolean {
  return /^\d{8}T\d{6}Z$/.test(name);
}

/**
 * The dumps of a folder, newest first; none without the folder. A folder without a readable manifest is no dump. `known`: dumps that
 * were read before, which are not read again, as they never change.
 */
async function readDumps(folder: string, known: readonly Dump[] = []): Promise<Dump[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  const newest = names.filter(isDumpName).sort().reverse().slice(0, MOST_LISTED);
  const dumps = await Promise.all(
    newest.map(async (name): Promise<Dump[]> => {
      const before = known.find((dump) => dump.name === name);
      if (before !== undefined) return [before];
      const text = await readFile(join(folder, name, MANIFEST), "utf8").catch(() => "");
      const manifest = parsed(text);
      // The name of a renamed folder does not match.
      return manifest === undefined || dumpName(manifest.asOf) !== name ? [] : [{ name, ...manifest }];
    }),
  );
  return dumps.flat();
}

function parsed(text: string): ParquetManifest | undefined {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export interface DumpOptions extends ParquetOptions {
  folder: string;
  /** Number of dumps that are kept; older ones are removed after a new one is complete. */
  kept: number;
}

/** Free space without which no dump is started, besides one and a half times the size of the last one. */
const LEAST_FREE_BYTES = 64 * 2 ** 20;

/** Repositories that are no longer public: their forge hides them, or blocks them for legal reasons. */
const isHidden: NonNullable<ParquetOptions["omits"]> = ({ availability }) =>
  availability === "PRIVATE" || availability === "BLOCKED";

/**
 * Writes a dump of the repositories that are not hidden, removes the oldest dumps, and returns the name of the new one, which appears
 * once all of it is on the disk. Throws Refusal if another process is writing one, or if the disk has too little room.
 */
export async function writeDump(
  catalog: Pick<Catalog, "dump" | "kind">,
  { folder, kept, ...options }: DumpOptions,
): Promise<{ name: string; manifest: ParquetManifest }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseFullDisk(folder);
  const work = await openWorkFolder(folder, options.clock);
  try {
    const manifest = await writeParquet(catalog, work, { ...options, omits: isHidden });
    const name = dumpName(manifest.asOf);
    if (existsSync(join(folder, name))) throw new Refusal(`there is a dump of ${manifest.asOf} already`);
    await rename(work, join(folder, name));
    await syncFolder(folder);
    await removeOld(folder, kept);
    return { name, manifest };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function refuseFullDisk(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [last] = await readDumps(folder);
  const bytes = last?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
  if (bavail * bsize < 1.5 * bytes + LEAST_FREE_BYTES)
    throw new Refusal(
      `the disk of ${folder} has too little room: a dump may need ${Math.round(1.5 * bytes)} bytes`,
    );
}

/** Removes all but the newest dumps, and the rest of dumps whose removal was interrupted. */
async function removeOld(folder: string, kept: number): Promise<void> {
  const oldest = (await readDumps(folder))[kept - 1];
  if (oldest === undefined) return;
  for (const name of await readdir(folder)) {
    if (!isDumpName(name) || name >= oldest.name) continue;
    // Without its manifest it is not listed any more, however far this gets.
    await rm(join(folder, name, MANIFEST), { force: true });
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
