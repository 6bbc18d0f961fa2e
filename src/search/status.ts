import { sql } from "kysely";
import { runState } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
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
  const counted = isBuilt
    ? sql<{
        waiting: number;
      }>`select count(*) as waiting from outdated where kind in ('words', 'words_in_rebuild')`
    : sql<{ waiting: number }>`select count(*) as waiting from repositories where availability = 'AVAILABLE'`;
  const { rows } = await counted.execute(write);
  const isUpdating = (await runState(write, clock, "words")) === "running";
  return { isBuilt, waiting: Number(rows[0]?.waiting ?? 0), isUpdating };
}
