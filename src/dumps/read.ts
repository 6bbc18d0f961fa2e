import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CATALOGUE_KINDS } from "../catalog/catalog.js";
import { MANIFEST, type ParquetManifest } from "../transfer/transfer.js";

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

/** Most dumps that are listed. */
const MOST_LISTED = 100;

/** The name of a dump made at a time (ISO 8601, UTC): `20260430T120000Z`. */
export function dumpName(asOf: string): string {
  return asOf.replaceAll(/[-:]|\.\d+/g, "");
}

export function isDumpName(name: string): boolean {
  return /^\d{8}T\d{6}Z$/.test(name);
}

/**
 * The dumps of a folder, newest first; none if there is no folder. What has no manifest that can be read is no dump. `known`: dumps
 * that were read before; as a dump never changes, they are not read again.
 */
export async function readDumps(folder: string, known: readonly Dump[] = []): Promise<Dump[]> {
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
      // A folder that somebody has renamed is not what its name says.
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
