import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { floatsOf, PAGE, PAGES_PER_BLOCK, readState, type SearchState } from "./layout.js";
import { BLOCK } from "./postings.js";

/**
 * Which repository has which position, in memory: 4 bytes for each, read by block when first needed. Only pages that have
 * changed are read again.
 */
export class PositionMemory {
  #firstBlock = -1;
  #version = -1;
  /** By page of the index, for the blocks that are loaded. */
  readonly #pages = new Map<number, Uint32Array | Float64Array>();
  readonly #blocks = new Set<number>();

  /** The state of the index, with this memory brought up to it; undefined without an index. */
  async refresh(db: Db): Promise<SearchState | undefined> {
    const state = await readState(db);
    if (state === undefined || state.firstBlock !== this.#firstBlock) {
      this.#pages.clear();
      this.#blocks.clear();
      this.#firstBlock = state?.firstBlock ?? -1;
      this.#version = state?.version ?? -1;
    }
    if (state !== undefined && state.version > this.#version) {
      const { rows } = await sql<{ page: number; ids: Uint8Array }>`select page, ids from search_pages
        where version > ${this.#version} and page >= ${state.firstBlock * PAGES_PER_BLOCK}`.execute(db);
      for (const { page, ids } of rows)
        if (this.#blocks.has(Math.floor(page / PAGES_PER_BLOCK))) this.#pages.set(page, compact(ids));
      this.#version = state.version;
    }
    return state;
  }

  /** Loads the blocks that hold these positions. */
  async load(db: Db, dialect: Dialect, positions: readonly number[]): Promise<void> {
    const needed = new Set<number>();
    for (const position of positions) {
      const block = this.#firstBlock + Math.floor(position / BLOCK);
      if (!this.#blocks.has(block)) needed.add(block);
    }
    if (needed.size === 0) return;
    const pages = [...needed].flatMap((block) =>
      Array.from({ length: PAGES_PER_BLOCK }, (_, i) => block * PAGES_PER_BLOCK + i),
    );
    const { rows } = await sql<{ page: number; ids: Uint8Array }>`select page, ids from search_pages
      where ${dialect.among(sql`page`, pages)}`.execute(db);
    for (const { page, ids } of rows) this.#pages.set(page, compact(ids));
    for (const block of needed) this.#blocks.add(block);
  }

  /**
   * The repositories at positions whose blocks are loaded, in the same order, without positions that are no longer in use. The
   * index of each position goes to `kept` if that is given.
   */
  idsAt(positions: readonly number[], kept: number[] = []): number[] {
    const ids: number[] = [];
    let number = -1;
    let page: Uint32Array | Float64Array | undefined;
    for (const [i, position] of positions.entries()) {
      const wanted = position >>> PAGE_BITS;
      if (wanted !== number) {
        number = wanted;
        page = this.#pages.get(this.#firstBlock * PAGES_PER_BLOCK + number);
      }
      const id = page?.[position & (PAGE - 1)] ?? 0;
      if (id <= 0) continue;
      ids.push(id);
      kept.push(i);
    }
    return ids;
  }
}

const PAGE_BITS = Math.log2(PAGE);

/** Ids as 32-bit numbers, or as they are if one is larger. */
function compact(bytes: Uint8Array): Uint32Array | Float64Array {
  const ids = floatsOf(bytes);
  return ids.some((id) => id > 0xffff_ffff) ? ids : Uint32Array.from(ids, (id) => Math.max(0, id));
}
