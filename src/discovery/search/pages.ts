import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import { decodeAdditions, floatsOf, PAGE, PAGES_PER_BLOCK, type SearchState } from "./layout.js";
import { BLOCK, Positions } from "./postings.js";

type PageValues = [page: number, ids: Uint8Array];
type AdditionValues = [slot: number, data: Uint8Array];

/** The statements that read which repository has which position. */
export class PageReader {
  readonly pages: Prepared<readonly number[], PageValues>;
  readonly additions: Prepared<{ firstBlock: number; slot: number }, AdditionValues>;

  constructor({ prepare, dialect }: Database) {
    this.pages = prepare(
      (given) =>
        sql`select page, ids from search_pages where ${dialect.among(
          sql`page`,
          given((pages) => pages),
        )}`,
    );
    this.additions = prepare(
      (given) => sql`select slot, data from search_additions
        where first_block = ${given(({ firstBlock }) => firstBlock)} and slot >= ${given(({ slot }) => slot)}
        order by slot`,
    );
  }
}

/**
 * Which repository has which position in one build of the index, in memory: 4 bytes for each, read by block when first needed,
 * and the additions since. A rebuild makes a new index with pages of its own, so a search that began before it never takes
 * positions of one for those of the other.
 */
export class IndexPages {
  readonly firstBlock: number;
  readonly #reader: PageReader;
  /** Of the index whose additions are known. */
  #version = -1;
  /** By number; a filtered search looks at thousands, in no order. */
  readonly #pages: (Uint32Array | Float64Array | undefined)[] = [];
  /** By block that is loaded or being loaded: resolves when it is. */
  readonly #blocks = new Map<number, Promise<void>>();
  /** By page: positions that changed after the index was built, with their repositories; 0 for those no longer in use. */
  readonly #changed = new Map<number, Map<number, number>>();
  /** By slot: the position of an addition; -1: it has none, or no longer. */
  readonly #positions: number[] = [];
  readonly #slots = new Map<number, number>();
  /** By block: positions that are no longer in use. */
  readonly #unused = new Map<number, Positions>();

  constructor(reader: PageReader, { firstBlock }: Pick<SearchState, "firstBlock">) {
    this.#reader = reader;
    this.firstBlock = firstBlock;
  }

  /** Reads the additions up to a version of the index. */
  async update({ version, slots }: Pick<SearchState, "version" | "slots">): Promise<void> {
    if (version <= this.#version) return;
    if (slots > 0) {
      const from = { firstBlock: this.firstBlock, slot: this.#positions.length };
      for (const [slot, data] of await this.#reader.additions(from)) this.#add(slot, data);
    }
    this.#version = Math.max(this.#version, version);
  }

  #add(first: number, data: Uint8Array): void {
    // Another update may have read the same row.
    if (first < this.#positions.length) return;
    // An update that did not finish has taken slots without using them.
    while (this.#positions.length < first) this.#positions.push(-1);
    for (const { id, position, replaced } of decodeAdditions(data)) {
      const slot = this.#positions.push(position) - 1;
      if (replaced >= 0) this.#release(replaced);
      if (position < 0) continue;
      this.#slots.set(position, slot);
      this.#change(position, id);
    }
  }

  #release(position: number): void {
    const slot = this.#slots.get(position);
    if (slot !== undefined) this.#positions[slot] = -1;
    const block = Math.floor(position / BLOCK);
    const unused = this.#unused.get(block) ?? new Positions();
    this.#unused.set(block, unused);
    unused.add(position % BLOCK);
    this.#change(position, 0);
  }

  #change(position: number, id: number): void {
    const number = Math.floor(position / PAGE);
    const changed = this.#changed.get(number) ?? new Map<number, number>();
    this.#changed.set(number, changed);
    changed.set(position % PAGE, id);
    if (this.#blocks.has(Math.floor(number / PAGES_PER_BLOCK)))
      this.#keep(number, this.#pages[number] ?? new Uint32Array(PAGE));
  }

  /** Keeps a page with its changes. */
  #keep(number: number, ids: Uint32Array | Float64Array): void {
    const changed = this.#changed.get(number) ?? new Map<number, number>();
    const isLarge = [...changed.values()].some((id) => id > MAX_UINT32);
    const kept = isLarge ? Float64Array.from(ids) : ids;
    for (const [index, id] of changed) kept[index] = id;
    this.#pages[number] = kept;
  }

  /** The position of an addition; -1: none. */
  positionOf(slot: number): number {
    return this.#positions[slot] ?? -1;
  }

  /** The positions of a block, counted from its first one, that are no longer in use; undefined if all are. */
  unusedIn(block: number): Positions | undefined {
    return this.#unused.get(block);
  }

  /** Loads the blocks that hold these positions. */
  async load(positions: readonly number[]): Promise<void> {
    const needed = blocksOf(positions);
    const missing = needed.filter((block) => !this.#blocks.has(block));
    if (missing.length > 0) {
      const loading = this.#read(missing).catch((error: unknown) => {
        for (const block of missing) this.#blocks.delete(block);
        throw error;
      });
      for (const block of missing) this.#blocks.set(block, loading);
    }
    await Promise.all(needed.map((block) => this.#blocks.get(block)));
  }

  async #read(blocks: readonly number[]): Promise<void> {
    const numbers = blocks.flatMap((block) =>
      Array.from({ length: PAGES_PER_BLOCK }, (_, i) => block * PAGES_PER_BLOCK + i),
    );
    const first = this.firstBlock * PAGES_PER_BLOCK;
    const rows = await this.#reader.pages(numbers.map((number) => first + number));
    for (const [page, bytes] of rows) this.#keep(page - first, compact(bytes));
    // Only additions have positions beyond those of the rebuild.
    for (const number of numbers)
      if (this.#changed.has(number) && this.#pages[number] === undefined)
        this.#keep(number, new Uint32Array(PAGE));
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
        page = this.#pages[number];
      }
      const id = page?.[position & (PAGE - 1)] ?? 0;
      if (id > 0) ids.push(id);
    }
    return ids;
  }
}

/** The blocks of positions, each once. */
function blocksOf(positions: readonly number[]): number[] {
  const blocks: number[] = [];
  let last = -1;
  for (let i = 0; i < positions.length; i++) {
    const block = Math.floor((positions[i] ?? 0) / BLOCK);
    if (block === last) continue;
    last = block;
    if (!blocks.includes(block)) blocks.push(block);
  }
  return blocks;
}

const PAGE_BITS = Math.log2(PAGE);
const MAX_UINT32 = 0xffff_ffff;

/** Ids as 32-bit numbers, or as they are if one is larger. */
function compact(bytes: Uint8Array): Uint32Array | Float64Array {
  const ids = floatsOf(bytes);
  return ids.some((id) => id > MAX_UINT32) ? ids : Uint32Array.from(ids);
}
