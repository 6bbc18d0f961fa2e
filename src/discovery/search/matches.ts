/**
 * The best matches of a query: which blocks of the index are read, when enough of them are, and how the matches of all tiers are
 * put in one order.
 */
import { blocksWith } from "./directory.js";
import { addedBlocks, type SearchState } from "./layout.js";
import type { IndexPages } from "./pages.js";
import { BLOCK, PositionPool, type Positions } from "./postings.js";
import type { RunReader } from "./runs.js";
import { BlockMatches, hasLists, type Rows, readRows, type Tier, tiersOf } from "./tiers.js";
import type { WordsQuery } from "./words.js";

/** Each step reads this many times the blocks of the one before, at most MOST_BLOCKS. */
const STEP_FACTOR = 4;
const MOST_BLOCKS = 64;

export interface MatchQuery {
  query: WordsQuery;
  /** Where the words must occur: in the name and the owner, or anywhere. */
  scope: "names" | "all";
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
const EXACT_KEPT = 50;

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
  // Several words are often together in few blocks; the lists of a common one are long, so only those of these blocks are read.
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

/** A search in progress: the matches in the blocks visited so far. */
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
      ({ tier }) => (tier.isName || scope === "all") && keyOf(block * BLOCK, tier) <= bound,
    );
  }

  /** Adds the matches of a block of the build, if they can change the result. */
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
    const tiers = matches.tiers(isCounting || this.#found.some(({ tier }, i) => !tier.isName && open[i]));
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

/** A tier with the positions found, ascending. */
interface FoundTier {
  tier: Tier;
  positions: number[];
}

function keyOf(position: number, { weight }: Tier): number {
  return Math.floor(position / weight);
}

/** The key of the `count`-th best position; infinite if there are fewer. No position with a greater key is among the first. */
function boundOf(found: readonly FoundTier[], count: number): number {
  if (found.reduce((sum, { positions }) => sum + positions.length, 0) < count)
    return Number.POSITIVE_INFINITY;
  let low = 0;
  let high = found.reduce(
    (most, { tier, positions }) => Math.max(most, keyOf(positions.at(-1) ?? 0, tier)),
    0,
  );
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const within = found.reduce(
      (sum, { tier, positions }) => sum + countBelow(positions, (middle + 1) * tier.weight),
      0,
    );
    if (within >= count) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How many numbers of an ascending list are less than a value. */
function countBelow(list: readonly number[], value: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** At most `limit` positions of all tiers, best first. */
function bestOf(found: readonly FoundTier[], limit: number): number[] {
  const tiers = found
    .filter(({ positions }) => positions.length > 0)
    .map(({ tier, positions }) => ({ tier, positions, next: 0, key: keyOf(positions[0] ?? 0, tier) }));
  const best: number[] = [];
  while (best.length < limit) {
    let first = tiers[0];
    // Of equal keys, that of the earlier tier is first.
    for (const one of tiers) if (one.key < (first?.key ?? 0)) first = one;
    if (first === undefined || first.key === Number.POSITIVE_INFINITY) break;
    best.push(first.positions[first.next++] ?? 0);
    const position = first.positions[first.next];
    first.key = position === undefined ? Number.POSITIVE_INFINITY : keyOf(position, first.tier);
  }
  return best;
}
