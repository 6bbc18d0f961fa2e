/** Which position each repository has: giving positions out, and noticing when they no longer follow the stars. */
import { sql } from "kysely";
import type { Database, Db } from "../../database/database.js";
import {
  type Addition,
  FREE_EVERY,
  floatsOf,
  LAST_OF_BLOCK,
  PAGE,
  PAGES_PER_BLOCK,
  readAdditions,
  readState,
  type SearchState,
} from "./layout.js";
import { BLOCK } from "./postings.js";

/** A page and this many on either side are tried for a free position. */
const PAGES_TRIED = 2;
/** In memory: a position that is not used again. */
const USED = -1;

/** All positions with their repositories, while positions are given out. */
export class Placement {
  /** Pages written by the last rebuild, which are in order. */
  readonly #built: number;
  readonly #pages: { ids: Float64Array; stars: Float64Array; top: number }[] = [];
  positions: number;

  private constructor({ documents, positions }: SearchState) {
    this.#built = Math.ceil(documents / (PAGE - PAGE / FREE_EVERY));
    this.positions = positions;
  }

  static async read(db: Db, state: SearchState): Promise<Placement> {
    const placement = new Placement(state);
    const first = state.firstBlock * PAGES_PER_BLOCK;
    const { rows } = await sql<{ ids: Uint8Array; stars: Uint8Array }>`select ids, stars from search_pages
      where page >= ${first} order by page`.execute(db);
    for (const { ids, stars } of rows) placement.#append(floatsOf(ids), floatsOf(stars));
    for (const addition of await readAdditions(db, state.firstBlock)) placement.apply(addition);
    return placement;
  }

  #append(ids: Float64Array, stars: Float64Array): void {
    const used = ids.findIndex((id) => id !== 0);
    this.#pages.push({ ids, stars, top: stars[used] ?? -1 });
  }

  apply({ id, position, replaced, stars }: Addition): void {
    if (replaced >= 0) this.#set(replaced, USED);
    if (position >= 0) this.#set(position, id, stars);
  }

  #set(position: number, id: number, stars?: number): void {
    while (this.#pages.length * PAGE <= position)
      this.#append(new Float64Array(PAGE), new Float64Array(PAGE));
    const page = this.#pages[Math.floor(position / PAGE)];
    if (page === undefined) return;
    page.ids[position % PAGE] = id;
    if (stars !== undefined) page.stars[position % PAGE] = stars;
  }

  /** The repositories that have a position, best first. */
  *ids(): Generator<number> {
    for (const { ids } of this.#pages) for (const id of ids) if (id > 0) yield id;
  }

  /** The same with their positions. */
  *placed(): Generator<{ id: number; position: number }> {
    for (const [number, { ids }] of this.#pages.entries())
      for (const [i, id] of ids.entries()) if (id > 0) yield { id, position: number * PAGE + i };
  }

  /** The positions of some repositories. */
  positionsOf(repositories: ReadonlySet<number>): Map<number, number> {
    const found = new Map<number, number>();
    for (const [number, { ids }] of this.#pages.entries())
      for (let i = 0; i < PAGE; i++)
        if (repositories.has(ids[i] ?? 0)) found.set(ids[i] ?? 0, number * PAGE + i);
    return found;
  }

  /** Reserves a free position near repositories with as many stars; without one nearby, a position at the end. */
  reserve(stars: number): number {
    const middle = this.#pageOf(stars);
    for (let away = 0; away <= PAGES_TRIED; away++) {
      for (const page of away === 0 ? [middle] : [middle + away, middle - away]) {
        const index = this.#freeIndex(page, stars);
        if (index !== undefined) return this.#take(page * PAGE + index, stars);
      }
    }
    const end = this.positions % BLOCK === LAST_OF_BLOCK ? this.positions + 1 : this.positions;
    return this.#take(end, stars);
  }

  #take(position: number, stars: number): number {
    this.#set(position, USED, stars);
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

  #freeIndex(number: number, stars: number): number | undefined {
    const page = this.#pages[number];
    if (page === undefined) return undefined;
    const isFree = (index: number) =>
      page.ids[index] === 0 &&
      (number * PAGE + index) % BLOCK !== LAST_OF_BLOCK &&
      number * PAGE + index < this.positions;
    let wanted = page.stars.findIndex((other, index) => page.ids[index] !== 0 && other < stars);
    if (wanted < 0) wanted = PAGE - 1;
    for (let away = 0; away < PAGE; away++) {
      if (isFree(wanted - away)) return wanted - away;
      if (isFree(wanted + away)) return wanted + away;
    }
    return undefined;
  }
}

/** Up to this many repositories, the order is exact. */
const EXACT_UP_TO = 10_000;
/** In a larger index a repository may be off by this part of its position … */
const TOLERANCE = 1 / 8;
/** … and this part of all repositories by more. */
const DISPLACED = 0.01;
/** Repositories read by one statement. */
const READ = 20_000;

/**
 * Whether the order of the index differs from that by stars: at all in a small catalogue; in a large one, where exact order
 * makes no difference to a reader, for more than 1 % of the repositories.
 */
export async function isOutOfOrder({ write }: Database): Promise<boolean> {
  const state = await readState(write);
  if (state === undefined) return false;
  const ranks = new Map<number, number>();
  for (const id of (await Placement.read(write, state)).ids()) ranks.set(id, ranks.size);
  const isExact = ranks.size <= EXACT_UP_TO;
  let displaced = 0;
  let rank = 0;
  for (let after = { stars: Number.MAX_SAFE_INTEGER, id: 0 }; ; ) {
    const next = await sql<{
      stars: number;
      id: number;
    }>`select coalesce(stars, -1) as stars, id from repositories
      where availability = 'AVAILABLE' and (coalesce(stars, -1), id) < (${after.stars}, ${after.id})
      order by coalesce(stars, -1) desc, id desc limit ${READ}`.execute(write);
    for (const { id } of next.rows) {
      const known = ranks.get(id);
      // A repository that is not indexed yet is marked, and gets its position then.
      if (known === undefined) continue;
      if (Math.abs(known - rank) > (isExact ? 0 : known * TOLERANCE + 1)) displaced++;
      rank++;
    }
    const last = next.rows.at(-1);
    if (last === undefined) break;
    after = last;
  }
  return displaced > (isExact ? 0 : ranks.size * DISPLACED);
}
