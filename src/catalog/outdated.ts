import { sql } from "kysely";
import type { BulkRow, Database, Db, Dialect, Tx } from "../database/database.js";

/**
 * Derived data of a repository: its words in the search index, its growth, or its ranks and share of the facets (id 0: those
 * of all repositories). `rollups_in_rebuild`: growth that was updated while all growth is being rebuilt.
 */
export type OutdatedKind = "words" | "rollups" | "ranks" | "rollups_in_rebuild";

/** Marks derived data of repositories as outdated, in the transaction of the change. */
export async function markOutdated(
  tx: Tx,
  dialect: Dialect,
  kind: OutdatedKind,
  ids: readonly number[],
): Promise<void> {
  const rows = [...new Set(ids)].map((id): BulkRow => [kind, id]);
  const columns = { kind: "text", repository_id: "bigint" } as const;
  await dialect.insertNew(tx, "outdated", columns, ["kind", "repository_id"], rows);
}

/**
 * Updates outdated data of one kind, `size` repositories per transaction. A mark is deleted in the transaction of its work, so
 * a crash loses neither. Returns the number of repositories updated; `onProgress` gets that number after each transaction.
 */
export async function workOff(
  { dialect, write }: Database,
  kind: OutdatedKind,
  size: number,
  work: (tx: Tx, ids: readonly number[]) => Promise<void>,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  for (let done = 0; ; onProgress(done)) {
    const count = await dialect.exclusively(write, "catalogue", async (tx) => {
      const marked = await tx
        .selectFrom("outdated")
        .select("repository_id")
        .where("kind", "=", kind)
        .orderBy("repository_id")
        .limit(size)
        .execute();
      if (marked.length === 0) return 0;
      const ids = marked.map((row) => row.repository_id);
      await work(tx, ids);
      const here = dialect.among(sql.ref("repository_id"), ids);
      await tx.deleteFrom("outdated").where("kind", "=", kind).where(here).execute();
      await bumpRevision(tx);
      return ids.length;
    });
    if (count === 0) return done;
    done += count;
  }
}

/** Sets a mark of the database as a whole. */
export async function setMark(tx: Tx, name: string): Promise<void> {
  await sql`insert into marks (name, value) values (${name}, 'true') on conflict do nothing`.execute(tx);
}

export async function hasMark(db: Db, name: string): Promise<boolean> {
  const row = await db.selectFrom("marks").select("value").where("name", "=", name).executeTakeFirst();
  return row !== undefined;
}

/** Announces a change to the readers in every process. */
export async function bumpRevision(tx: Tx): Promise<void> {
  await sql`update revision set value = value + 1 where id = 1`.execute(tx);
}
