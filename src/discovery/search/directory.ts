/**
 * The directory of a build: in which of its blocks each word occurs, so that a search for a rare word reads only those. It is
 * stored like the words of a block, with the numbers of blocks instead of positions. A build of one block has none.
 */
import { sql } from "kysely";
import type { Database } from "../../database/database.js";
import type { Run } from "../../repositories/repositories.js";
import { TEXT_PREFIX_FROM } from "./block-writer.js";
import { directoryBlock, type SearchState } from "./layout.js";
import { type Marks, markOf, PositionPool, type Positions, WHOLE } from "./postings.js";
import { beginningWith, findInRun, type RunReader, runsOf, wordsIn, writeAllRuns } from "./runs.js";
import { compareWords, type WordsQuery } from "./words.js";

/** Runs read at a time, of all blocks together. */
const RUNS_READ = 2_000;
/** A prefix of more runs of the directory than this is taken to be in all blocks. */
const RUNS_OF_PREFIX = 4;

/** Writes the directory of blocks that are complete, for a range of words at a time. */
export async function writeDirectory(
  { dialect, write }: Database,
  run: Run,
  { firstBlock, blocks }: { firstBlock: number; blocks: number },
): Promise<void> {
  const { rows } = await sql<{ word: string }>`select word from search_words
    where block = ${firstBlock} order by word`.execute(write);
  const step = Math.max(1, Math.floor(RUNS_READ / blocks));
  const bounds = rows.filter((_, i) => i > 0 && i % step === 0).map(({ word }) => word);
  /** By block: words of its last run that are beyond the range. */
  const left: string[][] = Array.from({ length: blocks }, () => []);
  for (const [i, until] of [...bounds, undefined].entries()) {
    const from = bounds[i - 1] ?? "";
    const here = until === undefined ? sql`word >= ${from}` : sql`word >= ${from} and word < ${until}`;
    const found = await sql<{ block: number; data: Uint8Array }>`select block, data from search_words
      where block >= ${firstBlock} and block < ${firstBlock + blocks} and ${here} order by block, word`.execute(
      write,
    );
    const runs = Map.groupBy(found.rows, ({ block }) => block - firstBlock);
    const words = left.map((before, block) => {
      const all = [...before, ...(runs.get(block) ?? []).flatMap(({ data }) => wordsIn(data))];
      let end = all.length;
      while (until !== undefined && end > 0 && compareWords(all[end - 1] ?? "", until) >= 0) end--;
      left[block] = all.slice(end);
      return all.slice(0, end);
    });
    const merged = runsOf(merge(words));
    await writeAllRuns(dialect, run, { block: directoryBlock(firstBlock), runs: merged });
  }
}

interface Cursor {
  words: readonly string[];
  next: number;
  word: string;
  block: number;
}

/** Merges the sorted words of all blocks: each word with the marks of its blocks. */
function* merge(blocks: readonly (readonly string[])[]): Generator<[string, Marks]> {
  const heap = blocks
    .map((words, block): Cursor => ({ words, next: 0, word: words[0] ?? "", block }))
    .filter(({ words }) => words.length > 0)
    .sort(inOrder);
  for (let [first] = heap; first !== undefined; ) {
    const { word } = first;
    const marks: number[] = [];
    while (first?.word === word) {
      marks.push(markOf(first.block, WHOLE));
      first.next++;
      const next = first.words[first.next];
      const last = next === undefined ? heap.pop() : first;
      if (next !== undefined) first.word = next;
      if (last !== undefined && heap.length > 0) sink(heap, last);
      first = heap[0];
    }
    yield [word, marks];
  }
}

function inOrder(a: Cursor, b: Cursor): number {
  return compareWords(a.word, b.word) || a.block - b.block;
}

/** Replaces the first cursor of a heap, and moves the new one to where it belongs. */
function sink(heap: Cursor[], cursor: Cursor): void {
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    const least = right !== undefined && inOrder(right, left) < 0 ? right : left;
    if (inOrder(cursor, least) <= 0) break;
    heap[at] = least;
    at = least === left ? child : child + 1;
  }
  heap[at] = cursor;
}

/**
 * The blocks that can hold matches of a query, by their numbers in the build; undefined for all. `isCommon`: whether very
 * many words begin with a prefix.
 */
export async function blocksWith(
  reader: RunReader,
  { firstBlock }: Pick<SearchState, "firstBlock">,
  { words, owner, name, isCommon }: WordsQuery & { isCommon: (prefix: string) => boolean },
): Promise<ReadonlySet<number> | undefined> {
  const ways = [
    { words: words.slice(0, -1), prefix: words.at(-1) ?? "" },
    ...(name === "" ? [] : [{ words: owner, prefix: name }]),
  ];
  const isEverywhere = (prefix: string) => prefix.length < TEXT_PREFIX_FROM || isCommon(prefix);
  if (ways.some((way) => way.words.length === 0 && isEverywhere(way.prefix))) return undefined;
  const block = directoryBlock(firstBlock);
  const prefixes = [...new Set(ways.map(({ prefix }) => prefix))].filter((prefix) => !isEverywhere(prefix));
  const wanted = [...new Set([...ways.flatMap((way) => way.words), ...prefixes])];
  const runs = new Map<string, Uint8Array>();
  for (const [, word, data] of await reader.find(wanted.map((word) => ({ block, word }))))
    runs.set(word, data);
  const further = new Map<string, Uint8Array[] | undefined>();
  await Promise.all(
    prefixes.map(async (prefix) => {
      const found = await reader.findWithin({ blocks: [block], prefix, limit: RUNS_OF_PREFIX + 1 });
      further.set(prefix, found.length > RUNS_OF_PREFIX ? undefined : found.map(([, , data]) => data));
    }),
  );
  // From here on nothing waits, so the sets are not in use by another search.
  POOL.reset();
  const ofWord = (word: string): Positions => {
    const run = runs.get(word);
    return blocksOf(run === undefined ? [] : [findInRun(run, word)]);
  };
  const ofPrefix = (prefix: string): Positions | undefined => {
    const more = further.get(prefix);
    if (more === undefined) return undefined;
    const run = runs.get(prefix);
    const all = run === undefined ? more : [run, ...more];
    return blocksOf(all.flatMap((data) => beginningWith(data, prefix)));
  };
  const all = POOL.take();
  for (const way of ways) {
    const sets = [...way.words.map(ofWord), ofPrefix(way.prefix)].filter((set) => set !== undefined);
    if (sets.length === 0) return undefined;
    all.unite(sets.reduce((both, one) => both.intersect(one)));
  }
  const numbers: number[] = [];
  all.appendTo(numbers, 0);
  return new Set(numbers);
}

const POOL = new PositionPool();

/** The numbers of blocks in lists of the directory. */
function blocksOf(lists: readonly (ReturnType<typeof findInRun> | undefined)[]): Positions {
  const blocks = POOL.take();
  for (const list of lists) list?.addTo(blocks, WHOLE);
  return blocks;
}
