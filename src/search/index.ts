import { bumpRevision, findRepositories, workOff } from "../catalog/catalog.js";
import type { Database, Dialect, Tx } from "../database/database.js";
import { documentOf } from "./words.js";

/** Repositories indexed in one transaction. */
const BATCH = 5_000;

/**
 * Updates the search index for the repositories marked as outdated; new ones go to its end. Safe to kill and run again.
 * Returns the number of repositories processed.
 */
export async function updateWords(
  database: Database,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const { dialect } = database;
  return workOff(database, { kind: "words", size: BATCH, onProgress }, (tx, ids) => index(tx, dialect, ids));
}

/** Sorts the search index by current stars. On SQLite that rebuilds it, if the order has changed. */
export async function orderWords({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    if (await dialect.reorderWords(tx)) await bumpRevision(tx);
  });
}

async function index(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<void> {
  const repositories = await findRepositories(tx, dialect, ids);
  const listed = repositories.filter((repository) => repository.availability === "AVAILABLE");
  const others = repositories.filter((repository) => repository.availability !== "AVAILABLE");
  await dialect.indexWords(tx, listed.map(documentOf));
  await dialect.unindexWords(
    tx,
    others.map((repository) => repository.id),
  );
}
