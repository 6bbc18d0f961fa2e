import type { Db } from "../database/database.js";

/**
 * Origin of a catalogue's data. `real`: recorded or imported. `sample`: the bundled sample of real history.
 * `synthetic`: generated for benchmarks and tests; never mixed with real repositories.
 */
export const CATALOGUE_KINDS = ["real", "sample", "synthetic"] as const;
export type CatalogueKind = (typeof CATALOGUE_KINDS)[number];

/** Name of the mark that holds the kind; a catalogue without one is real. */
const MARK = "catalogue";

export async function readKind(db: Db): Promise<CatalogueKind> {
  const mark = await db.selectFrom("marks").select("value").where("name", "=", MARK).executeTakeFirst();
  return CATALOGUE_KINDS.find((kind) => kind === mark?.value) ?? "real";
}

export async function setKind(db: Db, kind: CatalogueKind): Promise<void> {
  await db.deleteFrom("marks").where("name", "=", MARK).execute();
  if (kind !== "real") await db.insertInto("marks").values({ name: MARK, value: kind }).execute();
}
