/**
 * Dumps: dated folders with the public catalogue as Parquet files, for everybody to download. A dump is complete from the moment it has
 * its name, never changes, and has repositories, their names and snapshots, and nothing of people. The list of files comes from
 * manifests, never from a request. How files are sent is up to the API.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { errorCode } from "../lib/errors.js";
import {
  type DumpedCatalog,
  MANIFEST,
  manifestSchema,
  type ParquetManifest,
  type ParquetOptions,
  writeParquet,
} from "./parquet.js";
import { Refusal } from "./values.js";
import { openWorkFolder } from "./work-folder.js";

/** A complete dump. */
export interface Dump extends ParquetManifest {
  /** The time of `asOf`, such as `20260430T120000Z`, which is the name of its folder. */
  name: string;
}

const MOST_LISTED = 100;
const NAME = /^\d{8}T\d{6}Z$/;

/** The dumps in a folder. Manifests that were read are remembered, as dumps never change. */
export class Dumps {
  readonly #folder: string;
  readonly #known = new Map<string, Dump>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All complete dumps, newest first, at most 100; none without the folder. One without a readable manifest is not listed. */
  async list(): Promise<Dump[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    const newest = names
      .filter((name) => NAME.test(name))
      .sort()
      .reverse()
      .slice(0, MOST_LISTED);
    const dumps = await Promise.all(newest.map((name) => this.#read(name)));
    return dumps.filter((dump) => dump !== undefined);
  }

  async #read(name: string): Promise<Dump | undefined> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    try {
      const manifest = manifestSchema.parse(
        JSON.parse(await readFile(join(this.#folder, name, MANIFEST), "utf8")),
      );
      // The name of a renamed folder does not match.
      if (dumpName(manifest.asOf) !== name) return undefined;
      const dump = { name, ...manifest };
      this.#known.set(name, dump);
      return dump;
    } catch {
      return undefined;
    }
  }

  /** A file by the name of its dump and its path, and its location on this machine; undefined if no manifest has it. */
  async find(name: string, path: string) {
    const dump = (await this.list()).find((one) => one.name === name);
    const file = dump?.files.find((one) => one.path === path);
    return file && { ...file, location: join(this.#folder, name, path) };
  }
}

/** The name of a dump made at a time (ISO 8601, UTC): `20260430T120000Z`. */
function dumpName(asOf: string): string {
  return asOf.replaceAll(/[-:]|\.\d+/g, "");
}

/** Whether the newest dump in a folder is so old that another one is due. One of a clock that was ahead does not count. */
export async function isDumpDue(
  folder: string,
  { now, everyDays }: { now: number; everyDays: number },
): Promise<boolean> {
  const newest = (await new Dumps(folder).list()).find(({ asOf }) => Date.parse(asOf) <= now + HOUR_MS);
  // An hour less, so that a dump a day does not come later each day.
  return newest === undefined || now - Date.parse(newest.asOf) >= everyDays * DAY_MS - HOUR_MS;
}

interface DumpOptions extends ParquetOptions {
  folder: string;
  /** Number of dumps that are kept; older ones are removed after a new one is complete. */
  kept: number;
}

/** Free space without which no dump is started, besides one and a half times the size of the last one. */
const LEAST_FREE_BYTES = 64 * 2 ** 20;

/**
 * Writes a dump of the catalogue, removes the oldest dumps, and returns the name of the new one, which appears
 * once all of it is on the disk. Throws Refusal if another process is writing one, or if the disk has too little room.
 */
export async function writeDump(
  catalog: DumpedCatalog,
  { folder, kept, ...options }: DumpOptions,
): Promise<{ name: string; manifest: ParquetManifest }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseFullDisk(folder);
  const work = await openWorkFolder(folder, options.clock);
  try {
    const manifest = await writeParquet(catalog, work, options);
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
  const [last] = await new Dumps(folder).list();
  const bytes = 1.5 * (last?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0);
  if (bavail * bsize < bytes + LEAST_FREE_BYTES)
    throw new Refusal(
      `the disk of ${folder} has too little space: a dump may need ${Math.round(bytes)} bytes`,
    );
}

/** Removes all but the newest dumps, and the rest of dumps whose removal was interrupted. */
async function removeOld(folder: string, kept: number): Promise<void> {
  const oldest = (await new Dumps(folder).list())[kept - 1];
  if (oldest === undefined) return;
  for (const name of await readdir(folder)) {
    if (!NAME.test(name) || name >= oldest.name) continue;
    // Without its manifest it is not listed any more, however far this gets.
    await rm(join(folder, name, MANIFEST), { force: true });
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
