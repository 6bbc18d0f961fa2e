import { sql } from "kysely";
import type { Db, SearchStateTable, Tx } from "../database/database.js";
import { BLOCK } from "./postings.js";

/**
 * Where the parts of the index are stored. Positions count from 0, the most popular repository, in blocks of 65,536 and pages
 * of 1,024. A rebuild writes blocks with new numbers beside the index that is being read, so `firstBlock` says where the
 * positions begin.
 */

/** Positions of a page. */
export const PAGE = 1_024;
export const PAGES_PER_BLOCK = BLOCK / PAGE;
/** Blocks that one rebuild may write, with those appended until the next one. */
const BLOCKS_PER_BUILD = 16_384;
/** The prefixes of a block are stored like words, under the number of the block plus this. */
const PREFIX_BLOCKS = BLOCKS_PER_BUILD / 2;
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

/** The index as it is now. */
export interface SearchState {
  firstBlock: number;
  builtBlocks: number;
  positions: number;
  documents: number;
  changes: number;
  version: number;
}

/** The state of the index; undefined until it has been built. */
export async function readState(db: Db | Tx): Promise<SearchState | undefined> {
  const { rows } = await sql<Omit<SearchStateTable, "id" | "vocabulary">>`
    select first_block, built_blocks, positions, documents, changes, version from search_state`.execute(db);
  const row = rows[0];
  if (row === undefined || row.first_block === null) return undefined;
  return {
    firstBlock: row.first_block,
    builtBlocks: row.built_blocks,
    positions: row.positions,
    documents: row.documents,
    changes: row.changes,
    version: row.version,
  };
}

/** The numbers in a column of `search_pages`, for reading and writing. */
export function floatsOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(Uint8Array.from(bytes).buffer);
}

export function bytesOf(floats: Float64Array): Uint8Array {
  return new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
}
