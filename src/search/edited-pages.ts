import { sql } from "kysely";
import type { BulkRow, Db } from "../database/database.js";
import {
  bytesOf,
  FREE_EVERY,
  floatsOf,
  LAST_OF_BLOCK,
  PAGE,
  PAGES_PER_BLOCK,
  type SearchState,
} from "./layout.js";
import { BLOCK } from "./postings.js";

/** A page and this many on either side are tried for a free position. */
const PAGES_TRIED = 2;

/** The pages of the index while positions are given out and taken back. */
export class EditedPages {
  readonly #first: number;
  /** Pages written by the last rebuild, which are in order. */
  readonly #built: number;
  readonly #pages: { ids: Float64Array; stars: Float64Array; top: number; isEdited: boolean }[];
  positions: number;

  private constructor({ firstBlock, documents, positions }: SearchState) {
    this.#first = firstBlock * PAGES_PER_BLOCK;
    this.#built = Math.ceil(documents / (PAGE - PAGE / FREE_EVERY));
    this.#pages = [];
    this.positions = positions;
  }

  static async read(db: Db, state: SearchState): Promise<EditedPages> {
    const edited = new EditedPages(state);
    const { rows } = await sql<{ page: number; ids: Uint8Array; stars: Uint8Array }>`
      select page, ids, stars from search_pages where page >= ${edited.#first} order by page`.execute(db);
    for (const { ids, stars } of rows) edited.#append(floatsOf(ids), floatsOf(stars));
    return edited;
  }

  #append(ids: Float64Array, stars: Float64Array): void {
    const used = ids.findIndex((id) => id !== 0);
    this.#pages.push({ ids, stars, top: stars[used] ?? -1, isEdited: false });
  }

  /** Takes back the positions of repositories. */
  remove(repositories: ReadonlySet<number>): void {
    for (const page of this.#pages) {
      for (let i = 0; i < PAGE; i++) {
        if (!repositories.has(page.ids[i] ?? 0)) continue;
        page.ids[i] = -1;
        page.isEdited = true;
      }
    }
  }

  /** Reserves a free position near repositories with as many stars; without one nearby, a position at the end. */
  reserve(stars: number): number {
    const middle = this.#pageOf(stars);
    for (let away = 0; away <= PAGES_TRIED; away++) {
      for (const page of away === 0 ? [middle] : [middle + away, middle - away]) {
        const slot = this.#freeSlot(page, stars);
        if (slot !== undefined) return this.#take(page * PAGE + slot, stars);
      }
    }
    let end = this.positions;
    if (end % BLOCK === LAST_OF_BLOCK) end++;
    while (this.#pages.length * PAGE <= end) this.#append(new Float64Array(PAGE), new Float64Array(PAGE));
    return this.#take(end, stars);
  }

  #take(position: number, stars: number): number {
    const page = this.#pages[Math.floor(position / PAGE)];
    if (page !== undefined) {
      page.ids[position % PAGE] = -1;
      page.stars[position % PAGE] = stars;
      page.isEdited = true;
    }
    this.positions = Math.max(this.positions, position + 1);
    return position;
  }

  /** The last page that begins with at least as many stars. */
  #pageOf(stars: number): number {
    let [low, high] = [0, this.#built - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#pages[middle]?.top ?? -1) >= stars) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #freeSlot(index: number, stars: number): number | undefined {
    const page = this.#pages[index];
    if (page === undefined) return undefined;
    const free = (slot: number) =>
      page.ids[slot] === 0 &&
      (index * PAGE + slot) % BLOCK !== LAST_OF_BLOCK &&
      index * PAGE + slot < this.positions;
    let wanted = page.stars.findIndex((other, slot) => page.ids[slot] !== 0 && other < stars);
    if (wanted < 0) wanted = PAGE - 1;
    for (let away = 0; away < PAGE; away++) {
      if (free(wanted - away)) return wanted - away;
      if (free(wanted + away)) return wanted + away;
    }
    return undefined;
  }

  /** Moves repositories to their reserved positions. */
  settle(positions: ReadonlyMap<number, number>): void {
    for (const [id, position] of positions) {
      const page = this.#pages[Math.floor(position / PAGE)];
      if (page === undefined) continue;
      page.ids[position % PAGE] = id;
      page.isEdited = true;
    }
  }

  /** The rows of pages that have been edited since the last call. */
  takeEdited(version: number): BulkRow[] {
    return this.#pages.flatMap((page, i) => {
      if (!page.isEdited) return [];
      page.isEdited = false;
      return [[this.#first + i, version, bytesOf(page.ids), bytesOf(page.stars)]];
    });
  }
}
