import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { floatsOf, PAGE, PAGES_PER_BLOCK, type SearchState } from "./layout.js";
import { BLOCK } from "./postings.js";

interface PageRow {
  page: number;
  version: number;
  ids: Uint8Array;
}

/**
 * Which repository has which position in one build of the index, in memory: 4 bytes for each, read by block when first needed.
 * Only pages that have changed are read again. A rebuild makes a new index with pages of its own, so a search that began before
 * it never takes positions of one for those of the other.
 */
export class IndexPages {
  readonly firstBlock: number;
  #version: number;
  readonly #pages = new Map<number, { version: number; ids: Uint32Array | Float64Array }>();
  /** By block that is loaded or being loaded: resolves when it is. */
  readonly #blocks = new Map<number, Promise<void>>();

  constructor({ firstBlock, version }: Pick<SearchState, "firstBlock" | "version">) {
    this.firstBlock = firstBlock;
    this.#version = version;
  }

  /** Reads the pages in memory again that have changed up to a version of the index. */
  async update(db: Db, version: number): Promise<void> {
    if (version <= this.#version) return;
    const { rows } = await sql<PageRow>`select page, version, ids from search_pages
      where version > ${this.#version} and page >= ${this.firstBlock * PAGES_PER_BLOCK}`.execute(db);
    this.#keep(rows.filter(({ page }) => this.#blocks.has(Math.floor(page / PAGES_PER_BLOCK))));
    this.#version = Math.max(this.#version, version);
  }

  /** Loads the blocks that hold these positions. */
  async load(db: Db, dialect: Dialect, positions: readonly number[]): Promise<void> {
    const needed = [...new Set(positions.map((position) => this.firstBlock + Math.floor(position / BLOCK)))];
    const missing = needed.filter((block) => !this.#blocks.has(block));
    if (missing.length > 0) {
      const loading = this.#read(db, dialect, missing).catch((error: unknown) => {
        for (const block of missing) this.#blocks.delete(block);
        throw error;
      });
      for (const block of missing) this.#blocks.set(block, loading);
    }
    await Promise.all(needed.map((block) => this.#blocks.get(block)));
  }

  async #read(db: Db, dialect: Dialect, blocks: readonly number[]): Promise<void> {
    const pages = blocks.flatMap((block) =>
      Array.from({ length: PAGES_PER_BLOCK }, (_, i) => block * PAGES_PER_BLOCK + i),
    );
    const { rows } = await sql<PageRow>`select page, version, ids from search_pages
      where ${dialect.among(sql`page`, pages)}`.execute(db);
    this.#keep(rows);
  }

  /** An update and the load of a block may overlap, so the later version of a page wins. */
  #keep(rows: readonly PageRow[]): void {
    for (const { page, version, ids } of rows)
      if (version >= (this.#pages.get(page)?.version ?? 0))
        this.#pages.set(page, { version, ids: compact(ids) });
  }

  /** The repositories at positions whose blocks are loaded, in the same order, without positions that are no longer in use. */
  idsAt(positions: readonly number[]): number[] {
    const ids: number[] = [];
    let number = -1;
    let page: Uint32Array | Float64Array | undefined;
    for (const position of positions) {
      const wanted = position >>> PAGE_BITS;
      if (wanted !== number) {
        number = wanted;
        page = this.#pages.get(this.firstBlock * PAGES_PER_BLOCK + number)?.ids;
      }
      const id = page?.[position & (PAGE - 1)] ?? 0;
      if (id > 0) ids.push(id);
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
