/**
 * How the index is stored: the numbers of its blocks and pages, its state, and the additions since it was built.
 *
 * Positions count from 0, the most popular repository, in blocks of 65,536 and pages of 1,024. A rebuild writes blocks with new
 * numbers beside the index that is being read, so `firstBlock` says where the positions begin. What it has written does not
 * change. Repositories that are added or changed later get a free position. Their words are in further blocks, those of
 * additions, where they have slots in the order in which they came.
 */
import { type RawBuilder, sql } from "kysely";
import type { BulkTable, Database, Db, SearchStateTable, Tx } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { runState } from "../../repositories/repositories.js";
import { BLOCK } from "./postings.js";

/** Positions of a page. */
export const PAGE = 1_024;
export const PAGES_PER_BLOCK = BLOCK / PAGE;
/** Numbers of blocks that one build of the index may use. */
const BLOCKS_PER_BUILD = 16_384;
/** The prefixes of a block are stored like words, under the number of the block plus this. */
const PREFIX_BLOCKS = BLOCKS_PER_BUILD / 2;
/** The first block of additions. */
const ADDED_BLOCKS = PREFIX_BLOCKS / 2;
/** The directory of the blocks (`directory.ts`). */
const DIRECTORY = PREFIX_BLOCKS - 1;
/** Every 16th position is left free by a rebuild, for repositories that are added or change their words. */
export const FREE_EVERY = 16;

/** Never given out, so that the length of a list fits into 16 bits. */
export const LAST_OF_BLOCK = BLOCK - 1;

export function firstBlockOf(generation: number): number {
  return generation * BLOCKS_PER_BUILD;
}

export function prefixBlock(block: number): number {
  return block + PREFIX_BLOCKS;
}

export function directoryBlock(firstBlock: number): number {
  return firstBlock + DIRECTORY;
}

/** The block of additions that holds the words of a slot, and where in the block. */
export function placeOfSlot(firstBlock: number, slot: number): { block: number; index: number } {
  const added = Math.floor(slot / LAST_OF_BLOCK);
  return { block: firstBlock + ADDED_BLOCKS + added, index: slot - added * LAST_OF_BLOCK };
}

/** The blocks of additions that are in use, with the first slot of each. */
export function addedBlocks({
  firstBlock,
  slots,
}: Pick<SearchState, "firstBlock" | "slots">): { block: number; slot: number }[] {
  return Array.from({ length: Math.ceil(slots / LAST_OF_BLOCK) }, (_, i) => ({
    block: firstBlock + ADDED_BLOCKS + i,
    slot: i * LAST_OF_BLOCK,
  }));
}

/** The index as it is now. */
export interface SearchState {
  firstBlock: number;
  builtBlocks: number;
  positions: number;
  documents: number;
  slots: number;
  version: number;
}

/** The columns of the state, as `stateOf` takes them. */
export const SELECT_STATE: RawBuilder<StateValues> = sql`
  select first_block, built_blocks, positions, documents, slots, version from search_state`;

export type StateValues = [
  firstBlock: number | null,
  builtBlocks: number,
  positions: number,
  documents: number,
  slots: number,
  version: number,
];

/** The state of the index; undefined until it has been built. */
export function stateOf(values: StateValues | undefined): SearchState | undefined {
  if (values === undefined || values[0] === null) return undefined;
  const [firstBlock, builtBlocks, positions, documents, slots, version] = values;
  return { firstBlock, builtBlocks, positions, documents, slots, version };
}

/** The state of the index, for background work; undefined until it has been built. */
export async function readState(db: Db | Tx): Promise<SearchState | undefined> {
  const { rows } = await sql<Omit<SearchStateTable, "id" | "vocabulary">>`${SELECT_STATE}`.execute(db);
  const row = rows[0];
  if (row === undefined) return undefined;
  return stateOf([row.first_block, row.built_blocks, row.positions, row.documents, row.slots, row.version]);
}

/** The numbers in a column of bytes, for reading and writing. */
export function floatsOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(Uint8Array.from(bytes).buffer);
}

export function bytesOf(floats: Float64Array): Uint8Array {
  return new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
}

/** A repository that was added to the index after it was built, or whose words have changed or are gone since. */
export interface Addition {
  id: number;
  /** The position it has now; -1: none, as it is no longer available. */
  position: number;
  /** The position it had before, which is not used again; -1: none. */
  replaced: number;
  /** Stars when it got the position; -1: unknown. */
  stars: number;
}

export const ADDITIONS: BulkTable = {
  table: "search_additions",
  columns: { first_block: "bigint", slot: "bigint", data: "bytea" },
  key: ["first_block", "slot"],
};

/** Numbers stored of each addition. */
const NUMBERS = 4;

export function encodeAdditions(additions: readonly Addition[]): Uint8Array {
  const numbers = new Float64Array(additions.length * NUMBERS);
  for (const [i, { id, position, replaced, stars }] of additions.entries())
    numbers.set([id, position, replaced, stars], i * NUMBERS);
  return bytesOf(numbers);
}

export function decodeAdditions(data: Uint8Array): Addition[] {
  const numbers = floatsOf(data);
  return Array.from({ length: numbers.length / NUMBERS }, (_, i) => {
    const [id = 0, position = -1, replaced = -1, stars = -1] = numbers.subarray(
      i * NUMBERS,
      (i + 1) * NUMBERS,
    );
    return { id, position, replaced, stars };
  });
}

/** All additions of an index with their slots, in the order in which they were made. */
export async function readAdditions(db: Db, firstBlock: number): Promise<(Addition & { slot: number })[]> {
  const { rows } = await sql<{ slot: number; data: Uint8Array }>`select slot, data from search_additions
    where first_block = ${firstBlock} order by slot`.execute(db);
  return rows.flatMap(({ slot, data }) =>
    decodeAdditions(data).map((addition, i) => ({ ...addition, slot: slot + i })),
  );
}

/** What operators see of the index. */
export interface SearchStatus {
  /** false: searches find nothing. */
  isBuilt: boolean;
  /** Repositories to be indexed: added, changed or gone since the last update, or all. */
  waiting: number;
  /** Whether a process is updating it. */
  isUpdating: boolean;
}

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
