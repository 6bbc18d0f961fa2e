import { bumpRevision, findRepositories, workOff } from "../catalog/catalog.js";
import type { Database, Dialect, Tx } from "../database/database.js";
import { documentOf } from "./words.js";

/** Repositories put into the index in one transaction. */
const BATCH = 5_000;

/**
 * Brings the search index up to what the catalogue says; new repositories go to its end. Safe to be killed and run
 * again. Returns how many repositories were looked at.
 */
export async function updateWords(
  database: Database,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const { dialect } = database;
  return workOff(database, "words", BATCH, (tx, ids) => index(tx, dialect, ids), onProgress);
}

/** Orders the search index by the stars of today; on SQLite that makes it anew, where any two have changed places. */
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
