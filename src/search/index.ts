import { sql } from "kysely";
import { bumpRevision, findRepositories } from "../catalog/catalog.js";
import type { Database, Tx } from "../database/database.js";
import { documentOf } from "./words.js";

/** Repositories put into the index in one transaction. */
const BATCH = 5_000;

/**
 * Brings the search index up to what the catalogue says, then orders it by the stars of today. Safe to be killed and
 * run again. Returns how many repositories were looked at.
 */
export async function updateWords(
  database: Database,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const { dialect, write } = database;
  let done = 0;
  for (;;) {
    const count = await dialect.exclusively(write, "catalogue", (tx) => indexBatch(tx, database));
    if (count === 0) break;
    done += count;
    onProgress(done);
  }
  // Looked at every time: stars change without words, and a run may have been killed before it came here.
  await dialect.exclusively(write, "catalogue", async (tx) => {
    if (await dialect.reorderWords(tx)) await bumpRevision(tx);
  });
  return done;
}

async function indexBatch(tx: Tx, { dialect }: Database): Promise<number> {
  const rows = await tx
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "words")
    .orderBy("repository_id")
    .limit(BATCH)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.repository_id);
  const repositories = await findRepositories(tx, dialect, ids);
  const listed = repositories.filter((repository) => repository.availability === "AVAILABLE");
  const others = repositories.filter((repository) => repository.availability !== "AVAILABLE");
  await dialect.indexWords(tx, listed.map(documentOf));
  await dialect.unindexWords(
    tx,
    others.map((repository) => repository.id),
  );
  await tx
    .deleteFrom("outdated")
    .where("kind", "=", "words")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await bumpRevision(tx);
  return ids.length;
}
