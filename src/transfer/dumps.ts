/**
 * Dumps: dated files with the public catalogue as compressed NDJSON, for everybody to download, each with a description next to it.
 * A dump is complete from the moment it has its name, never changes, and has nothing of people. The list comes from the folder, never
 * from a request. How files are sent is up to the API.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { z } from "zod";
import { syncFolder } from "../database/database.js";
import { type Clock, DAY_MS, HOUR_MS, isoTime } from "../lib/clock.js";
import { errorCode } from "../lib/errors.js";
import { PARTIAL } from "../lib/replace-file.js";
import { CATALOGUE_KINDS, type Catalog } from "../repositories/repositories.js";
import { exportCatalogue } from "./export.js";
import { VERSION } from "./ndjson.js";
import { Refusal } from "./values.js";

const count = z.int().nonnegative();

const descriptionSchema = z.object({
  /** Of the NDJSON. */
  version: z.literal(VERSION),
  /** Time at which reading began, ISO 8601: everything recorded before is in the dump. */
  asOf: z.iso.datetime(),
  catalogue: z.enum(CATALOGUE_KINDS),
  repositoryCount: count,
  snapshots: count,
  bytes: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A complete dump. */
export interface Dump extends z.output<typeof descriptionSchema> {
  /** The name of its file, which has the time of `asOf`: `sidereal-20260430T120000Z.ndjson.gz`. */
  name: string;
}

const MOST_LISTED = 100;
const NAME = /^sidereal-\d{8}T\d{6}Z\.ndjson\.gz$/;

/** The dumps in a folder. Descriptions that were read are remembered, as dumps never change. */
export class Dumps {
  readonly #folder: string;
  readonly #known = new Map<string, Dump>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All complete dumps, newest first, at most 100; none without the folder. One without a readable description is not listed. */
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
      const description = await readFile(join(this.#folder, descriptionOf(name)), "utf8");
      const dump = { name, ...descriptionSchema.parse(JSON.parse(description)) };
      // The name of a renamed file does not match.
      if (dumpName(dump.asOf) !== name) return undefined;
      this.#known.set(name, dump);
      return dump;
    } catch {
      return undefined;
    }
  }

  /** A dump by the name of its file, and its location on this machine; undefined if none of the list has it. */
  async find(name: string) {
    const dump = (await this.list()).find((one) => one.name === name);
    return dump && { ...dump, location: join(this.#folder, name) };
  }
}

/** The name of a dump made at a time (ISO 8601, UTC). */
const dumpName = (asOf: string) => `sidereal-${asOf.replaceAll(/[-:]|\.\d+/g, "")}.ndjson.gz`;

const descriptionOf = (name: string) => name.replace("ndjson.gz", "json");

/** Whether the newest dump in a folder is so old that another one is due. One of a clock that was ahead does not count. */
export async function isDumpDue(
  folder: string,
  { now, everyDays }: { now: number; everyDays: number },
): Promise<boolean> {
  const newest = (await new Dumps(folder).list()).find(({ asOf }) => Date.parse(asOf) <= now + HOUR_MS);
  // An hour less, so that a dump a day does not come later each day.
  return newest === undefined || now - Date.parse(newest.asOf) >= everyDays * DAY_MS - HOUR_MS;
}

interface DumpOptions {
  folder: string;
  /** Number of dumps that are kept; older ones are removed after a new one is complete. */
  kept: number;
  clock: Clock;
  /** Gets the number of repositories written so far. */
  onProgress?: (repositories: number) => void;
}

/** Free space without which no dump is started, besides one and a half times the size of the last one. */
const LEAST_FREE_BYTES = 64 * 2 ** 20;

/**
 * Writes a dump of the catalogue, removes the oldest dumps, and returns the new one, which appears once all of it is on the disk.
 * Throws Refusal if another process is writing one, or if the disk has too little room.
 */
export async function writeDump(
  catalog: Pick<Catalog, "dump" | "dumpFiles" | "dumpParted" | "kind">,
  { folder, kept, clock, onProgress }: DumpOptions,
): Promise<Dump> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removePartial(folder, clock);
  await refuseFullDisk(folder);
  const asOf = isoTime(clock.now());
  const catalogue = await catalog.kind();
  const name = dumpName(asOf);
  if ((await readdir(folder)).includes(name)) throw new Refusal(`there is a dump of ${asOf} already`);
  const partial = join(folder, name + PARTIAL);
  const described = join(folder, descriptionOf(name));
  let dump: Dump;
  try {
    const totals = { repositories: 0, snapshots: 0 };
    const written = await compress(exportCatalogue(catalog, totals, onProgress), partial);
    const { repositories: repositoryCount, snapshots } = totals;
    const description = {
      version: VERSION,
      asOf,
      catalogue,
      repositoryCount,
      snapshots,
      ...written,
    } as const;
    await writeFile(described, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600, flush: true });
    await rename(partial, join(folder, name));
    dump = { name, ...description };
  } catch (error) {
    // The files of a process that began in the same second are not ours.
    if (errorCode(error) !== "EEXIST") await removeFiles(partial, described);
    throw error;
  }
  await syncFolder(folder);
  await removeOld(folder, kept);
  return dump;
}

/** Writes text to a new file. Resolves when all of it is on the disk. */
async function compress(
  text: AsyncIterable<string>,
  path: string,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  const measured = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(
    text,
    createGzip(),
    measured,
    createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }),
  );
  return { bytes, sha256: hash.digest("hex") };
}

async function removeFiles(...paths: string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

/** Removes the files of killed processes. Throws Refusal if one may still be writing, since two would do the same work. */
async function removePartial(folder: string, clock: Clock): Promise<void> {
  for (const partial of await readdir(folder)) {
    const name = partial.slice(0, -PARTIAL.length);
    if (!partial.endsWith(PARTIAL) || !NAME.test(name)) continue;
    const { mtimeMs } = await stat(join(folder, partial));
    // Either way, as a clock may have been wrong.
    if (Math.abs(clock.now() - mtimeMs) < HOUR_MS)
      throw new Refusal(`another process is writing ${name}, or was killed less than an hour ago`);
    await removeFiles(join(folder, partial), join(folder, descriptionOf(name)));
  }
}

async function refuseFullDisk(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [last] = await new Dumps(folder).list();
  const bytes = 1.5 * (last?.bytes ?? 0);
  if (bavail * bsize < bytes + LEAST_FREE_BYTES)
    throw new Refusal(
      `the disk of ${folder} has too little space: a dump may need ${Math.round(bytes)} bytes`,
    );
}

/** Removes all but the newest dumps, and the files of dumps whose removal was interrupted. */
async function removeOld(folder: string, kept: number): Promise<void> {
  const oldest = (await new Dumps(folder).list())[kept - 1];
  if (oldest === undefined) return;
  for (const name of await readdir(folder)) {
    if (!NAME.test(name) || name >= oldest.name) continue;
    // Without its description it is not listed any more, however far this gets.
    await removeFiles(join(folder, descriptionOf(name)), join(folder, name));
  }
}
