import { sql } from "kysely";
import { runState } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, Db } from "../database/database.js";
import { readState } from "./layout.js";

/** The state of the search index. */
export interface SearchStatus {
  /** false: searches find nothing. */
  isBuilt: boolean;
  /** Repositories that are to be indexed: added, changed or gone since the last update, or all. */
  waiting: number;
  /** Whether a process is updating it. */
  isUpdating: boolean;
}

/** Reads the state of the search index. */
export async function readStatus({ write }: Database, clock: Clock): Promise<SearchStatus> {
  const isBuilt = (await readState(write)) !== undefined;
  const waiting = isBuilt ? await countMarked(write) : await countAvailable(write);
  const isUpdating = (await runState(write, clock, "words")) === "running";
  return { isBuilt, waiting, isUpdating };
}

/** Number of repositories whose words are to be updated. */
export async function countMarked(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from outdated
    where kind in ('words', 'words_in_rebuild')`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

async function countAvailable(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from repositories
    where availability = 'AVAILABLE'`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
