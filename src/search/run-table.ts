import { type RawBuilder, sql } from "kysely";
import type { BulkRow, BulkTable, Db, Dialect, Tx } from "../database/database.js";
import type { Run } from "./runs.js";

const RUNS: BulkTable = {
  table: "search_words",
  columns: { block: "bigint", word: "text", data: "bytea" },
  key: ["block", "word"],
};
const PLACE_COLUMNS = { block: "bigint", word: "text" } as const;

/** A word in a block. */
export interface Place {
  block: number;
  word: string;
}

/** A run, and a word looked up that it holds if the block has it. */
export interface FoundRun extends Place {
  run: string;
  data: Uint8Array;
}

/** The run of each word that can hold it. */
export async function findRuns(db: Db | Tx, dialect: Dialect, places: readonly Place[]): Promise<FoundRun[]> {
  if (places.length === 0) return [];
  const { rows } = await sql<FoundRun>`select q.block, q.word, s.word as run, s.data
    from (${wanted(dialect, places)}) as q join search_words s on s.block = q.block and s.word = (
      select max(x.word) from search_words x where x.block = q.block and x.word <= q.word)`.execute(db);
  return rows;
}

/** For each word of a block, the first word of the run that can hold it; absent for one before all runs. */
export async function findRunNames(
  db: Db | Tx,
  dialect: Dialect,
  places: readonly Place[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ word: string; run: string | null }>`select q.word, (
      select max(x.word) from search_words x where x.block = q.block and x.word <= q.word) as run
    from (${wanted(dialect, places)}) as q`.execute(db);
  return new Map(rows.flatMap(({ word, run }) => (run === null ? [] : [[word, run]])));
}

/** The runs of a block with these first words. */
export async function readRuns(
  db: Db | Tx,
  dialect: Dialect,
  { block, names }: { block: number; names: readonly string[] },
): Promise<Map<string, Uint8Array>> {
  const { rows } = await sql<Run>`select word, data from search_words
    where block = ${block} and ${dialect.among(sql`word`, names)}`.execute(db);
  return new Map(rows.map(({ word, data }) => [word, data]));
}

/** The runs that begin with a word with this prefix, at most `limit`. The run before them may hold such words, too. */
export async function findRunsWithin(
  db: Db | Tx,
  dialect: Dialect,
  { blocks, prefix, limit }: { blocks: readonly number[]; prefix: string; limit: number },
): Promise<(Place & Run)[]> {
  // Every word with the prefix sorts between the prefix and the prefix followed by the greatest character.
  const { rows } = await sql<Place & Run>`select block, word, data from search_words
    where ${dialect.among(sql`block`, blocks)} and word > ${prefix} and word < ${`${prefix}\u{10ffff}`}
    order by block, word limit ${limit}`.execute(db);
  return rows;
}

export function writeRuns(tx: Tx, dialect: Dialect, rows: readonly BulkRow[]): Promise<void> {
  return dialect.upsert(tx, RUNS, rows);
}

function wanted(dialect: Dialect, places: readonly Place[]): RawBuilder<unknown> {
  return dialect.rowsOf(
    PLACE_COLUMNS,
    places.map(({ block, word }) => [block, word]),
  );
}
