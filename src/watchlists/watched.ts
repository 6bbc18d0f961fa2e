import type { Db } from "../database/database.js";

/** Most watchlists that are looked at, of accounts and of nobody. */
const LISTS = 500;

/** Repositories on the watchlists that were used last, the latest additions first; at most `most`, each once. */
export async function readWatched(read: Db, most: number): Promise<number[]> {
  const ids = new Set<number>();
  for (const used of ["updated_at", "opened_at"] as const) {
    const rows = await read
      .selectFrom("watchlist_items")
      .select("repository_id")
      .where("watchlist_id", "in", (lists) =>
        lists
          .selectFrom("watchlists")
          .select("id")
          .where(used === "updated_at" ? "account_id" : "opened_at", "is not", null)
          .orderBy(used, "desc")
          .limit(LISTS),
      )
      .orderBy("added_at", "desc")
      .limit(most)
      .execute();
    for (const { repository_id } of rows) ids.add(repository_id);
  }
  return [...ids].slice(0, most);
}
