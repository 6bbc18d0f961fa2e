import { TEXT_PREFIX_FROM } from "./block-writer.js";
import { prefixBlock } from "./layout.js";
import { NAME, PositionPool, type Positions, TEXT, WHOLE } from "./postings.js";
import type { WordsQuery } from "./query.js";
import type { RunReader } from "./run-table.js";
import { beginningWith, findInRun } from "./runs.js";

/** Runs read for a prefix without lists of its own, in the blocks of one step. */
const RUNS_OF_PREFIX = 1_000;

/** The runs that a query needs in some blocks. */
export interface Rows {
  /** By block and word; for a prefix, by the number under which the prefixes of a block are stored. */
  runs: ReadonlyMap<number, ReadonlyMap<string, Uint8Array>>;
  /** By block and prefix: runs that begin with a word with a prefix which has no lists of its own. */
  further: ReadonlyMap<number, ReadonlyMap<string, readonly Uint8Array[]>>;
}

/** The words of a query that are looked up as they are. */
export function wordsIn({ words, owner, name }: WordsQuery): string[] {
  return [...new Set([...words, ...owner, ...(name === "" ? [] : [name])])];
}

/** The words of a query that may be prefixes. */
export function prefixesIn({ words, name }: WordsQuery): string[] {
  return [...new Set([words.at(-1) ?? "", name])].filter((prefix) => prefix !== "");
}

/** Reads the runs of a query in some blocks. */
export async function readRows(
  reader: RunReader,
  query: WordsQuery,
  blocks: readonly number[],
): Promise<Rows> {
  const [words, prefixes] = [wordsIn(query), prefixesIn(query)];
  const places = blocks.flatMap((block) => [
    ...words.map((word) => ({ block, word })),
    ...prefixes.map((word) => ({ block: prefixBlock(block), word })),
  ]);
  const runs = new Map<number, Map<string, Uint8Array>>();
  for (const [block, word, data] of await reader.find(places)) {
    const known = runs.get(block);
    if (known === undefined) runs.set(block, new Map([[word, data]]));
    else known.set(word, data);
  }
  const further = new Map<number, Map<string, Uint8Array[]>>();
  const readFurther = async (prefix: string) => {
    const without = blocks.filter((block) => !hasLists({ runs }, block, prefix));
    for (const [block, , data] of await reader.findWithin({
      blocks: without,
      prefix,
      limit: RUNS_OF_PREFIX,
    })) {
      const known = further.get(block) ?? new Map<string, Uint8Array[]>();
      further.set(block, known);
      const list = known.get(prefix);
      if (list === undefined) known.set(prefix, [data]);
      else list.push(data);
    }
  };
  await Promise.all(prefixes.map(readFurther));
  return { runs, further };
}

/** Whether a prefix has lists of its own in a block: very many words have it. */
export function hasLists({ runs }: Pick<Rows, "runs">, block: number, prefix: string): boolean {
  const run = runs.get(prefixBlock(block))?.get(prefix);
  return run !== undefined && findInRun(run, prefix) !== undefined;
}

const POOL = new PositionPool();

/** The matches of a query in one block. The sets that it returns are valid until the next one is made. */
export class BlockMatches {
  readonly #runs: ReadonlyMap<string, Uint8Array>;
  readonly #prefixRuns: ReadonlyMap<string, Uint8Array>;
  readonly #further: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly #query: WordsQuery;
  readonly #rest: readonly string[];
  readonly #last: string;

  constructor({ runs, further }: Rows, block: number, query: WordsQuery) {
    POOL.reset();
    this.#runs = runs.get(block) ?? new Map<string, Uint8Array>();
    this.#prefixRuns = runs.get(prefixBlock(block)) ?? new Map<string, Uint8Array>();
    this.#further = further.get(block) ?? new Map<string, Uint8Array[]>();
    this.#query = query;
    this.#rest = query.words.slice(0, -1);
    this.#last = query.words.at(-1) ?? "";
  }

  /** The matches of each tier, in the order of `tiersOf`; undefined for none, or for tiers that are not wanted. No position is in two tiers. */
  tiers(withTexts: boolean): (Positions | undefined)[] {
    const [rest, last] = [this.#rest, this.#last];
    const { name } = this.#query;
    const owner = this.#owned();
    const names = this.#within(rest, NAME);
    const texts = withTexts ? this.#within(rest, TEXT) : () => undefined;
    const exact = owner(() => this.#ofWord(name, WHOLE));
    const owned = rest.length === 0 ? undefined : names(() => this.#ofWord(last, WHOLE));
    const tiers = [
      exact === undefined || owned === undefined ? (exact ?? owned) : exact.unite(owned),
      names(() => this.#ofWord(last, NAME)),
      owner(() => this.#ofPrefix(name, WHOLE)),
      names(() => this.#ofPrefix(last, NAME)),
      texts(() => this.#ofWord(last, TEXT)),
      texts(() => this.#ofPrefix(last, TEXT)),
    ];
    const better = POOL.take();
    for (const positions of tiers) {
      positions?.subtract(better);
      if (positions !== undefined) better.unite(positions);
    }
    return tiers;
  }

  /** The matches of all tiers. */
  all(): Positions | undefined {
    const named = this.#owned()(() => this.#ofPrefix(this.#query.name, WHOLE));
    const anywhere = this.#within(
      this.#rest,
      TEXT,
    )(() => {
      const prefixed = this.#ofPrefix(this.#last, TEXT);
      // A longer prefix finds the whole word, too.
      if (this.#last.length >= TEXT_PREFIX_FROM) return prefixed;
      const word = this.#ofWord(this.#last, TEXT);
      return prefixed === undefined || word === undefined ? (prefixed ?? word) : prefixed.unite(word);
    });
    return named === undefined || anywhere === undefined ? (named ?? anywhere) : named.unite(anywhere);
  }

  #ofWord(word: string, last: number): Positions | undefined {
    const run = this.#runs.get(word);
    const lists = run === undefined ? undefined : findInRun(run, word);
    if (lists === undefined) return undefined;
    const positions = POOL.take();
    lists.addTo(positions, last);
    return nonEmpty(positions);
  }

  #ofPrefix(prefix: string, last: number): Positions | undefined {
    const positions = POOL.take();
    const ownRun = this.#prefixRuns.get(prefix);
    const own = ownRun === undefined ? undefined : findInRun(ownRun, prefix);
    if (own !== undefined) {
      own.addTo(positions, last);
      return nonEmpty(positions);
    }
    const upTo = prefix.length < TEXT_PREFIX_FROM ? Math.min(last, NAME) : last;
    const begin = this.#runs.get(prefix);
    const runs = [...(begin === undefined ? [] : [begin]), ...(this.#further.get(prefix) ?? [])];
    for (const run of runs) for (const lists of beginningWith(run, prefix)) lists.addTo(positions, upTo);
    return nonEmpty(positions);
  }

  /** As `#within` for the words of the owner; finds nothing if the text cannot be a name. */
  #owned(): (find: () => Positions | undefined) => Positions | undefined {
    return this.#query.name === "" ? () => undefined : this.#within(this.#query.owner, NAME);
  }

  /** Makes a function that leaves only positions where all words occur, too. It computes nothing if they occur nowhere. */
  #within(
    words: readonly string[],
    list: number,
  ): (find: () => Positions | undefined) => Positions | undefined {
    if (words.length === 0) return (find) => find();
    const all = this.#ofWords(words, list);
    return (find) => {
      const positions = all === undefined ? undefined : find();
      return all === undefined || positions === undefined ? undefined : nonEmpty(positions.intersect(all));
    };
  }

  /** Where all words occur; undefined for nowhere. */
  #ofWords(words: readonly string[], list: number): Positions | undefined {
    let all: Positions | undefined;
    for (const word of words) {
      const positions = this.#ofWord(word, list);
      if (positions === undefined) return undefined;
      all = nonEmpty(all?.intersect(positions) ?? positions);
      if (all === undefined) return undefined;
    }
    return all;
  }
}

function nonEmpty(positions: Positions): Positions | undefined {
  return positions.isEmpty ? undefined : positions;
}
