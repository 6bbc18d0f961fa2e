/** Tables of the search index; see schema.ts for conventions of columns. */
export interface SearchTables {
  /** The state of the search index: one row, with id 1. */
  search_state: {
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
  };
  /** Which repositories have which positions in a build of the search index. */
  search_pages: {
    /** Number of the page, over all blocks. */
    page: number;
    /** 64-bit floats; 0: free. */
    ids: Uint8Array;
    /** 64-bit floats, when the index was built; -1: unknown. */
    stars: Uint8Array;
  };
  /** Repositories added to the search index since it was built; see search's additions.ts. */
  search_additions: {
    /** The index they belong to: its first block. */
    first_block: number;
    /** The slot of the first one. */
    slot: number;
    data: Uint8Array;
  };
  /** Words of the search index and where they occur; see search's runs.ts. */
  search_words: {
    block: number;
    /** The first word of the run. */
    word: string;
    data: Uint8Array;
  };
}

export type SearchStateTable = SearchTables["search_state"];
