/** Tables of the search index; see schema.ts for conventions of columns. */

/** The state of the search index: one row, with id 1. */
export interface SearchStateTable {
  id: number;
  /** The blocks of the index begin here; null until it has been built. */
  first_block: number | null;
  /** Number of blocks written by the last rebuild; only additions have positions beyond. */
  built_blocks: number;
  /** Number of positions in use or left free. */
  positions: number;
  /** Number of repositories that the last rebuild indexed. */
  documents: number;
  /** Number of slots given out to additions since. */
  slots: number;
  /** Incremented with every change of the index. */
  version: number;
  /** Words that typing errors are corrected to, most frequent first, one a line. */
  vocabulary: string;
}

/** Which repositories have which positions in a build of the search index. */
export interface SearchPageTable {
  /** Number of the page, over all blocks. */
  page: number;
  /** 64-bit floats; 0: free. */
  ids: Uint8Array;
  /** 64-bit floats, when the index was built; -1: unknown. */
  stars: Uint8Array;
}

/** Repositories added to the search index since it was built; see search's additions.ts. */
export interface SearchAdditionTable {
  /** The index they belong to: its first block. */
  first_block: number;
  /** The slot of the first one. */
  slot: number;
  data: Uint8Array;
}

/** Words of the search index and where they occur; see search's runs.ts. */
export interface SearchWordTable {
  block: number;
  /** The first word of the run. */
  word: string;
  data: Uint8Array;
}
