import type { Database } from "../database/database.js";
import { TEXT_PREFIX_FROM } from "./block-writer.js";
import { prefixBlock, type SearchState } from "./layout.js";
import { BLOCK, NAME, Positions, TEXT, WHOLE } from "./postings.js";
import type { WordsQuery } from "./query.js";
import { findRuns, findRunsWithin } from "./run-table.js";
import { beginningWith, findInRun } from "./runs.js";
import { bestOf, boundOf, type FoundTier, isWithin, tiersOf } from "./tiers.js";

/** Runs that are read of a prefix without lists of its own, in the blocks of one step. */
const RUNS_OF_PREFIX = 1_000;
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
}

export interface Matches {
  /** Positions in the index, best first. */
  positions: number[];
  /** Those that have exactly the name searched for. */
  exact: readonly number[];
}

/**
 * The best matches. Reads the blocks of the index in order, most popular first, and stops when no later one can hold a better
 * match; for a common word that is soon. In the worst case, words that are each common but never occur together, it reads 8 kB
 * for each list of each word in each block.
 */
export async function findMatches(
  database: Database,
  state: SearchState,
  { query, scope, limit }: MatchQuery,
): Promise<Matches> {
  const blocks = Math.ceil(state.positions / BLOCK);
  const found = tiersOf(query).map((tier): FoundTier => ({ tier, positions: [] }));
  const isOpen = (position: number, bound: number | undefined) =>
    found.map(({ tier }) => (tier.isName || scope === "all") && isWithin(position, tier, bound));
  for (
    let from = 0, size = 1;
    from < blocks;
    from += size, size = Math.min(size * STEP_FACTOR, MOST_BLOCKS)
  ) {
    if (!isOpen(from * BLOCK, boundOf(found, limit)).includes(true)) break;
    const numbers = Array.from(
      { length: Math.min(size, blocks - from) },
      (_, i) => state.firstBlock + from + i,
    );
    const rows = await readRows(database, query, numbers);
    for (const number of numbers) {
      const base = (number - state.firstBlock) * BLOCK;
      const open = isOpen(base, boundOf(found, limit));
      const matches = matchBlock({ ...rows, withTexts: open[4] === true || open[5] === true }, number, query);
      for (const [i, { positions }] of found.entries())
        if (open[i] === true) matches[i]?.appendTo(positions, base, limit - positions.length);
    }
  }
  return { positions: bestOf(found, limit), exact: found[0]?.positions ?? [] };
}

/** The runs that a query needs in some blocks. */
interface Rows {
  /** By block and word; of prefixes, by the number for those. */
  runs: ReadonlyMap<number, ReadonlyMap<string, Uint8Array>>;
  /** By block and prefix: runs that begin with a word with a prefix which has no lists of its own. */
  further: ReadonlyMap<number, ReadonlyMap<string, readonly Uint8Array[]>>;
}

async function readRows(
  { read, dialect }: Database,
  query: WordsQuery,
  blocks: readonly number[],
): Promise<Rows> {
  const words = [...new Set([...query.words, ...query.owner, ...(query.name === "" ? [] : [query.name])])];
  const prefixes = [...new Set([query.words.at(-1) ?? "", query.name])].filter((prefix) => prefix !== "");
  const places = blocks.flatMap((block) => [
    ...words.map((word) => ({ block, word })),
    ...prefixes.map((word) => ({ block: prefixBlock(block), word })),
  ]);
  const runs = new Map<number, Map<string, Uint8Array>>();
  for (const { block, word, data } of await findRuns(read, dialect, places)) {
    const known = runs.get(block);
    if (known === undefined) runs.set(block, new Map([[word, data]]));
    else known.set(word, data);
  }
  const further = new Map<number, Map<string, Uint8Array[]>>();
  for (const prefix of prefixes) {
    const without = blocks.filter((block) => {
      const run = runs.get(prefixBlock(block))?.get(prefix);
      return run === undefined || findInRun(run, prefix) === undefined;
    });
    if (without.length === 0) continue;
    const found = await findRunsWithin(read, dialect, { blocks: without, prefix, limit: RUNS_OF_PREFIX });
    for (const { block, data } of found) {
      const known = further.get(block) ?? new Map<string, Uint8Array[]>();
      further.set(block, known);
      const list = known.get(prefix);
      if (list === undefined) known.set(prefix, [data]);
      else list.push(data);
    }
  }
  return { runs, further };
}

/** The matches in a block, in the order of `tiersOf`; undefined for none, or for tiers that are not wanted. No position is in two tiers. */
function matchBlock(
  { runs, further, withTexts }: Rows & { withTexts: boolean },
  block: number,
  query: WordsQuery,
): (Positions | undefined)[] {
  const listsOf = (from: number, word: string) => {
    const run = runs.get(from)?.get(word);
    return run === undefined ? undefined : findInRun(run, word);
  };
  const ofWord = (word: string, last: number): Positions | undefined => {
    const positions = new Positions();
    listsOf(block, word)?.addTo(positions, last);
    return nonEmpty(positions);
  };
  const ofPrefix = (prefix: string, last: number): Positions | undefined => {
    const positions = new Positions();
    const own = listsOf(prefixBlock(block), prefix);
    if (own !== undefined) {
      own.addTo(positions, last);
      return nonEmpty(positions);
    }
    const upTo = prefix.length < TEXT_PREFIX_FROM ? Math.min(last, NAME) : last;
    const begin = runs.get(block)?.get(prefix);
    for (const run of [...(begin === undefined ? [] : [begin]), ...(further.get(block)?.get(prefix) ?? [])])
      for (const lists of beginningWith(run, prefix)) lists.addTo(positions, upTo);
    return nonEmpty(positions);
  };
  const last = query.words.at(-1) ?? "";
  /** Where all words occur; undefined for nowhere. */
  const ofWords = (words: readonly string[], list: number): Positions | undefined => {
    let all: Positions | undefined;
    for (const word of words) {
      const positions = ofWord(word, list);
      if (positions === undefined) return undefined;
      all = nonEmpty(all?.intersect(positions) ?? positions);
      if (all === undefined) return undefined;
    }
    return all;
  };
  /** Makes a function that leaves only positions where all words occur, too. It computes nothing if they occur nowhere. */
  const within = (words: readonly string[], list: number) => {
    if (words.length === 0) return (find: () => Positions | undefined) => find();
    const all = ofWords(words, list);
    return (find: () => Positions | undefined) => {
      const positions = all === undefined ? undefined : find();
      return all === undefined || positions === undefined ? undefined : nonEmpty(positions.intersect(all));
    };
  };
  const rest = query.words.slice(0, -1);
  const owner = query.name === "" ? () => undefined : within(query.owner, NAME);
  const names = within(rest, NAME);
  const texts = withTexts ? within(rest, TEXT) : () => undefined;
  const exact = owner(() => ofWord(query.name, WHOLE));
  const owned = rest.length === 0 ? undefined : names(() => ofWord(last, WHOLE));
  const tiers = [
    exact === undefined || owned === undefined ? (exact ?? owned) : exact.unite(owned),
    names(() => ofWord(last, NAME)),
    owner(() => ofPrefix(query.name, WHOLE)),
    names(() => ofPrefix(last, NAME)),
    texts(() => ofWord(last, TEXT)),
    texts(() => ofPrefix(last, TEXT)),
  ];
  const better = new Positions();
  for (const positions of tiers) {
    positions?.subtract(better);
    if (positions !== undefined) better.unite(positions);
  }
  return tiers;
}

function nonEmpty(positions: Positions): Positions | undefined {
  return positions.isEmpty ? undefined : positions;
}
