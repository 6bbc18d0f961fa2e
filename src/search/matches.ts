import { BlockMatches, hasLists, type Rows, readRows } from "./block-matches.js";
import { blocksWith } from "./directory.js";
import { addedBlocks, type SearchState } from "./layout.js";
import type { IndexPages } from "./pages.js";
import { BLOCK, PositionPool, type Positions } from "./postings.js";
import type { WordsQuery } from "./query.js";
import type { RunReader } from "./run-table.js";
import { bestOf, boundOf, type FoundTier, isWithin, tiersOf } from "./tiers.js";

/** Each step reads this many times the blocks of the one before, at most MOST_BLOCKS. */
const STEP_FACTOR = 4;
const MOST_BLOCKS = 64;

export type SearchScope = "names" | "all";

export interface MatchQuery {
  query: WordsQuery;
  /** Where the words must occur: in the name and the owner, or anywhere. */
  scope: SearchScope;
  /** Maximum number of positions. */
  limit: number;
  /** Matches anywhere are counted up to here; 0: not at all. */
  counted: number;
}

export interface Matches {
  /** Positions in the index, best first. */
  positions: number[];
  /** Some of those that have exactly the name searched for. */
  exact: readonly number[];
  /** Number of matches, at least `counted` if there are more than that. */
  total: number;
}

/** The index that is searched. */
export interface SearchedIndex {
  state: SearchState;
  pages: IndexPages;
  runs: RunReader;
}

/** Positions with exactly the name, of which the caller may choose. */
export const EXACT_KEPT = 50;

/**
 * The best matches. Reads the blocks of the index in order, most popular first, and stops when no later one can hold a better
 * match and enough are counted; for a common word that is soon. In the worst case, words that are each common but never occur
 * together, it reads 8 kB for each list of each word in each block.
 */
export async function findMatches(index: SearchedIndex, match: MatchQuery): Promise<Matches> {
  const { state, runs } = index;
  const { firstBlock } = state;
  const { query } = match;
  const search = new Matching(index, match);
  const added = addedBlocks(state);
  // Several words are often together in few blocks; the lists of a common one are long, so they are not read in vain.
  const expected = query.words.length > 1 ? await blocksFor(index, query) : undefined;
  const first = expected?.has(0) === false ? [] : [firstBlock];
  const rows = await readRows(runs, query, [...first, ...added.map(({ block }) => block)]);
  for (const { block, slot } of added) search.add(new BlockMatches(rows, block, query), slot);
  search.visit(0, rows);
  if (search.isDone(1)) return search.end();
  const blocks = expected ?? (await blocksFor(index, query, rows));
  const further = [...new Set([...blocks, ...search.addedTo()])]
    .sort((a, b) => a - b)
    .filter((block) => block > 0);
  for (let from = 0, size = STEP_FACTOR; from < further.length; from += size, size = nextSize(size)) {
    const numbers = further.slice(from, from + size);
    if (search.isDone(numbers[0] ?? 0)) break;
    const next = await readRows(
      runs,
      query,
      numbers.map((number) => firstBlock + number),
    );
    for (const number of numbers) search.visit(number, next);
  }
  return search.end();
}

/** The blocks of the build that can hold matches. `rows`: those of the first block, which show how common a prefix is. */
async function blocksFor(
  { state, runs }: SearchedIndex,
  query: WordsQuery,
  rows?: Rows,
): Promise<ReadonlySet<number>> {
  const isCommon = (prefix: string) => rows !== undefined && hasLists(rows, state.firstBlock, prefix);
  const blocks = state.builtBlocks > 1 ? await blocksWith(runs, state, { ...query, isCommon }) : undefined;
  return blocks ?? new Set(Array.from({ length: state.builtBlocks }, (_, i) => i));
}

function nextSize(size: number): number {
  return Math.min(size * STEP_FACTOR, MOST_BLOCKS);
}

/** Searches run concurrently, so each has a pool of its own. */
const POOLS: PositionPool[] = [];
const POOLS_KEPT = 4;

/** A search while blocks are visited. */
class Matching {
  readonly #index: SearchedIndex;
  readonly #match: MatchQuery;
  readonly #found: FoundTier[];
  /** Matches among the additions, by block and tier. */
  readonly #added = new Map<number, (Positions | undefined)[]>();
  /** Of the sets of the additions, until the search ends. */
  readonly #pool = POOLS.pop() ?? new PositionPool();
  #total = 0;

  constructor(index: SearchedIndex, match: MatchQuery) {
    this.#index = index;
    this.#match = match;
    this.#found = tiersOf(match.query).map((tier) => ({ tier, positions: [] }));
  }

  /** Adds the matches of a block of additions. All must be added before a block is visited. */
  add(matches: BlockMatches, firstSlot: number): void {
    for (const [tier, positions] of matches.tiers(this.#match.scope === "all").entries()) {
      if (positions === undefined) continue;
      const slots: number[] = [];
      positions.appendTo(slots, firstSlot);
      for (const slot of slots) {
        const position = this.#index.pages.positionOf(slot);
        if (position < 0) continue;
        const block = Math.floor(position / BLOCK);
        const tiers = this.#added.get(block) ?? this.#found.map(() => undefined);
        this.#added.set(block, tiers);
        tiers[tier] ??= this.#pool.take();
        tiers[tier]?.add(position % BLOCK);
      }
    }
  }

  /** The blocks with matches among the additions. */
  addedTo(): Iterable<number> {
    return this.#added.keys();
  }

  /** Whether no block from this one on can change the result. */
  isDone(block: number): boolean {
    return this.#total >= this.#match.counted && !this.#open(block).includes(true);
  }

  /** By tier: whether a block can hold one of the best matches. */
  #open(block: number): boolean[] {
    const { limit, scope } = this.#match;
    const bound = boundOf(this.#found, limit);
    return this.#found.map(
      ({ tier }) => (tier.isName || scope === "all") && isWithin(block * BLOCK, tier, bound),
    );
  }

  visit(number: number, rows: Rows): void {
    const { state, pages } = this.#index;
    const { query, limit, counted } = this.#match;
    const open = this.#open(number);
    const isCounting = this.#total < counted;
    const matches = new BlockMatches(rows, state.firstBlock + number, query);
    const added = this.#added.get(number) ?? [];
    const unused = pages.unusedIn(number);
    if (!open.includes(true)) {
      if (!isCounting) return;
      const all = matches.all();
      if (unused !== undefined) all?.subtract(unused);
      this.#total += [all, ...added].reduce((sum, positions) => sum + (positions?.count ?? 0), 0);
      return;
    }
    const tiers = matches.tiers(isCounting || open[4] === true || open[5] === true);
    for (const [i, { positions }] of this.#found.entries()) {
      const found = tiers[i] ?? added[i];
      if (found === undefined) continue;
      if (unused !== undefined) tiers[i]?.subtract(unused);
      if (found !== added[i] && added[i] !== undefined) found.unite(added[i]);
      if (isCounting) this.#total += found.count;
      const kept = i === 0 ? Math.max(limit, EXACT_KEPT) : limit;
      if (open[i] === true) found.appendTo(positions, number * BLOCK, kept - positions.length);
    }
  }

  end(): Matches {
    this.#pool.reset();
    if (POOLS.length < POOLS_KEPT) POOLS.push(this.#pool);
    const exact = (this.#found[0]?.positions ?? []).slice(0, EXACT_KEPT);
    return { positions: bestOf(this.#found, this.#match.limit), exact, total: this.#total };
  }
}
