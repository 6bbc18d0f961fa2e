import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog } from "../catalog/catalog.js";
import { syncFolder } from "../database/database.js";
import {
  MANIFEST,
  openWorkFolder,
  type ParquetManifest,
  type ParquetOptions,
  Refusal,
  writeParquet,
} from "../transfer/transfer.js";
import { dumpName, isDumpName, readDumps } from "./read.js";

export interface DumpOptions extends ParquetOptions {
  folder: string;
  /** Number of dumps that are kept; older ones are removed after a new one is complete. */
  kept: number;
}

/** Free space without which no dump is begun, besides the size of the last one with half as much again. */
const LEAST_FREE_BYTES = 64 * 2 ** 20;

/** Repositories that are not for the public any more: their forge hides them, or blocks them for legal reasons. */
const isHidden: NonNullable<ParquetOptions["omits"]> = ({ availability }) =>
  availability === "PRIVATE" || availability === "BLOCKED";

/**
 * Writes a dump of the repositories that are not hidden, removes the oldest ones, and returns the name of the new one. Nothing has that name before all of it is on the
 * disk. Throws Refusal if another process is writing one, or if the disk has too little room.
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

/** Removes what is older than the newest dumps, also what is left of some whose removal was interrupted. */
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
