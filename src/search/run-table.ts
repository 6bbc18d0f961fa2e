import { sql } from "kysely";
import type { Run as Rebuild } from "../catalog/catalog.js";
import type { BulkRow, BulkTable, Database, Db, Dialect, Prepared, Tx } from "../database/database.js";
import { afterPrefix, type Run } from "./runs.js";

const RUNS: BulkTable = {
  table: "search_words",
  columns: { block: "bigint", word: "text", data: "bytea" },
  key: ["block", "word"],
};
const PLACE_COLUMNS = { block: "bigint", word: "text" } as const;

/** Rows written in one transaction. */
const WRITTEN = 250;

/** A word in a block. */
export interface Place {
  block: number;
  word: string;
}

/** A word with the run that holds it if the block has it. */
export type FoundRun = [block: number, word: string, data: Uint8Array];

/** Words with a prefix in some blocks. */
export interface Range {
  blocks: readonly number[];
  prefix: string;
  /** Maximum number of runs. */
  limit: number;
}

/** Reads runs for requests. */
export class RunReader {
  readonly #find: Prepared<readonly (readonly [number, string])[], FoundRun>;
  readonly #findWithin: Prepared<Range, FoundRun>;

  constructor({ prepare, dialect }: Database) {
    this.#find = prepare(
      (given) => sql`select q.block, q.word, s.data
        from (${dialect.rowsOf(
          PLACE_COLUMNS,
          given((rows) => rows),
        )}) as q
        join search_words s on s.block = q.block and s.word = (
          select max(x.word) from search_words x where x.block = q.block and x.word <= q.word)`,
    );
    this.#findWithin = prepare((given) => {
      const blocks = given((range) => range.blocks);
      const [from, to] = [given(({ prefix }) => prefix), given(({ prefix }) => afterPrefix(prefix))];
      return sql`select block, word, data from search_words
        where ${dialect.among(sql`block`, blocks)} and word > ${from} and word < ${to}
        order by block, word limit ${given(({ limit }) => limit)}`;
    });
  }

  /** The run of each word that can hold it. */
  async find(places: readonly Place[]): Promise<FoundRun[]> {
    if (places.length === 0) return [];
    return this.#find(places.map(({ block, word }) => [block, word] as const));
  }

  /** The runs that begin with a word with this prefix. The run before them may hold such words, too. */
  async findWithin(range: Range): Promise<FoundRun[]> {
    return range.blocks.length === 0 ? [] : this.#findWithin(range);
  }
}

/** For each word of a block, the first word of the run that can hold it; absent for one before all runs. */
export async function findRunNames(
  db: Db | Tx,
  dialect: Dialect,
  places: readonly Place[],
): Promise<Map<string, string>> {
  const wanted = dialect.rowsOf(
    PLACE_COLUMNS,
    places.map(({ block, word }) => [block, word]),
  );
  const { rows } = await sql<{ word: string; run: string | null }>`select q.word, (
      select max(x.word) from search_words x where x.block = q.block and x.word <= q.word) as run
    from (${wanted}) as q`.execute(db);
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

export function writeRuns(tx: Tx, dialect: Dialect, rows: readonly BulkRow[]): Promise<void> {
  return dialect.upsert(tx, RUNS, rows);
}

/** Writes the runs of a block in small transactions. */
export async function writeAllRuns(
  dialect: Dialect,
  rebuild: Rebuild,
  { block, runs }: { block: number; runs: Iterable<Run> },
): Promise<void> {
  let waiting: BulkRow[] = [];
  const flush = async () => {
    const rows = waiting;
    waiting = [];
    if (rows.length > 0) await rebuild.step((tx) => writeRuns(tx, dialect, rows));
  };
  for (const { word, data } of runs) if (waiting.push([block, word, data]) >= WRITTEN) await flush();
  await flush();
}
