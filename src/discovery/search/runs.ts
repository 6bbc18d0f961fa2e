/**
 * Runs: how the words of a block are stored, and their table. A run has some 2 kB of consecutive words with their lists, under
 * the first of them, so the index has few rows, and most of the neighbours of a word are read with it. Each word is stored as
 * the number of bytes that it shares with the one before, the number of further bytes, and these bytes.
 */
import { sql } from "kysely";
import type { BulkRow, BulkTable, Database, Db, Dialect, Prepared, Tx } from "../../database/database.js";
import type { Run as Rebuild } from "../../repositories/repositories.js";
import { endOfLists, type Marks, roomForMarks, StoredLists, writeMarks } from "./postings.js";
import { afterPrefix, writeWord } from "./words.js";

/** A run ends after this many bytes. A word with long lists makes it longer. */
const RUN_BYTES = 2_000;

export interface Run {
  /** Its first word. */
  word: string;
  data: Uint8Array;
}

/** Makes runs of words with their marks or their encoded lists. The words must be in the order of `sortWords`. */
export function* runsOf(words: Iterable<readonly [string, Marks | Uint8Array]>): Generator<Run> {
  let first: string | undefined;
  let bytes = Buffer.alloc(RUN_BYTES);
  let size = 0;
  let [own, before] = [Buffer.alloc(WORD_BYTES), Buffer.alloc(WORD_BYTES)];
  let lengthBefore = 0;
  for (const [word, lists] of words) {
    if (size >= RUN_BYTES && first !== undefined) {
      yield { word: first, data: Buffer.from(bytes.subarray(0, size)) };
      first = undefined;
      [size, lengthBefore] = [0, 0];
    }
    first ??= word;
    const length = writeWord(own, 0, word);
    let shared = 0;
    while (shared < lengthBefore && shared < length && before[shared] === own[shared]) shared++;
    const room = lists instanceof Uint8Array ? lists.length : roomForMarks(lists.length);
    if (size + 2 + length + room > bytes.length) {
      const larger = Buffer.alloc(2 * (size + 2 + length + room));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes[size++] = shared;
    bytes[size++] = length - shared;
    for (let i = shared; i < length; i++) bytes[size++] = own[i] ?? 0;
    if (lists instanceof Uint8Array) {
      bytes.set(lists, size);
      size += lists.length;
    } else size = writeMarks(bytes, size, lists);
    [own, before] = [before, own];
    lengthBefore = length;
  }
  if (first !== undefined) yield { word: first, data: Buffer.from(bytes.subarray(0, size)) };
}

/** The lists of a word in a run; undefined if the run does not hold it. */
export function findInRun(data: Uint8Array, word: string): StoredLists | undefined {
  const wanted = Buffer.from(word);
  for (const at = new RunCursor(data); at.next(); ) {
    if (at.length === wanted.length && at.beginsWith(wanted)) return at.lists();
  }
  return undefined;
}

/** The lists of all words in a run that begin with a prefix. */
export function beginningWith(data: Uint8Array, prefix: string): StoredLists[] {
  const wanted = Buffer.from(prefix);
  const found: StoredLists[] = [];
  for (const at = new RunCursor(data); at.next(); ) if (at.beginsWith(wanted)) found.push(at.lists());
  return found;
}

/** The words of a run. */
export function wordsIn(data: Uint8Array): string[] {
  const words: string[] = [];
  for (const at = new RunCursor(data); at.next(); ) words.push(at.word());
  return words;
}

/** The words of a run with their lists. */
export function wordsOfRun(data: Uint8Array): [string, StoredLists][] {
  const words: [string, StoredLists][] = [];
  for (const at = new RunCursor(data); at.next(); ) words.push([at.word(), at.lists()]);
  return words;
}

/** Bytes of the longest word: 40 characters of at most 4 bytes. */
const WORD_BYTES = 255;

/** The current word of a cursor. Each run is read to its end before the next one, so one buffer serves all. */
const WORD = Buffer.alloc(WORD_BYTES);

/** Goes through a run word by word. */
class RunCursor {
  readonly #data: Uint8Array;
  readonly #word = WORD;
  length = 0;
  #lists = 0;
  #next = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  /** Moves to the next word; false at the end. */
  next(): boolean {
    const data = this.#data;
    const at = this.#next;
    if (at >= data.length) return false;
    const shared = data[at] ?? 0;
    const further = data[at + 1] ?? 0;
    for (let i = 0; i < further; i++) this.#word[shared + i] = data[at + 2 + i] ?? 0;
    this.length = shared + further;
    this.#lists = at + 2 + further;
    this.#next = endOfLists(data, this.#lists);
    return true;
  }

  beginsWith(prefix: Uint8Array): boolean {
    if (this.length < prefix.length) return false;
    for (let i = prefix.length - 1; i >= 0; i--) if (this.#word[i] !== prefix[i]) return false;
    return true;
  }

  word(): string {
    return this.#word.toString("utf8", 0, this.length);
  }

  lists(): StoredLists {
    return new StoredLists(this.#data, this.#lists);
  }
}

const RUNS: BulkTable = {
  table: "search_words",
  columns: { block: "bigint", word: "text", data: "bytea" },
  key: ["block", "word"],
};
const KEY_COLUMNS = { block: "bigint", word: "text" } as const;

/** Rows written in one transaction. */
const WRITTEN = 250;

/** A word in a block. */
interface RunKey {
  block: number;
  word: string;
}

/** A word with the run that holds it if the block contains it. */
type FoundRun = [block: number, word: string, data: Uint8Array];

/** Words with a prefix in some blocks. */
interface Range {
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
          KEY_COLUMNS,
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
  async find(keys: readonly RunKey[]): Promise<FoundRun[]> {
    if (keys.length === 0) return [];
    return this.#find(keys.map(({ block, word }) => [block, word] as const));
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
  keys: readonly RunKey[],
): Promise<Map<string, string>> {
  const wanted = dialect.rowsOf(
    KEY_COLUMNS,
    keys.map(({ block, word }) => [block, word]),
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
