/** Tables of the search index; see schema.ts for conventions of columns. */

/** The state of the search index: one row, with id 1. */
export interface SearchStateTable {
  id: number;
  /** The blocks of the index begin here; null until it has been built. */
  first_block: number | null;
  /** Number of blocks written by the last rebuild; later ones were appended. */
  built_blocks: number;
  /** Number of positions in use or left free. */
  positions: number;
  /** Number of repositories that the last rebuild indexed. */
  documents: number;
  /** Number of positions given out since. */
  changes: number;
  /** Incremented with every change of the index. */
  version: number;
  /** Words that typing errors are corrected to, most frequent first, one a line. */
  vocabulary: string;
}

/** Which repositories have which positions in the search index. */
export interface SearchPageTable {
  /** Number of the page, over all blocks. */
  page: number;
  /** Version of the index when this row was written. */
  version: number;
  /** 64-bit floats; 0: free, -1: no longer in use. */
  ids: Uint8Array;
  /** 64-bit floats, when the position was given out; -1: unknown. */
  stars: Uint8Array;
}

/** Words of the search index and where they occur; see search's runs.ts. */
export interface SearchWordTable {
  block: number;
  /** The first word of the run. */
  word: string;
  data: Uint8Array;
}
