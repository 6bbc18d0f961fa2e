/**
 * How well a repository matches a query, and which repositories of a block match how well. `BlockMatches` combines the lists of
 * the query's words, of which `readRows` reads the runs.
 */
import { TEXT_PREFIX_FROM } from "./block-writer.js";
import { prefixBlock } from "./layout.js";
import { NAME, PositionPool, type Positions, TEXT, WHOLE } from "./postings.js";
import { beginningWith, findInRun, type RunReader } from "./runs.js";
import type { WordsQuery } from "./words.js";

/**
 * One way to match. A repository of a tier is treated as if it were `weight` times as popular, by its position
 * among all repositories: the 2,000th by stars with exactly the name searched for comes before the 10th in whose description
 * the word occurs. In a small catalogue this puts one tier after the other. Ties go to the earlier tier, then to the more
 * popular repository.
 */
export interface Tier {
  weight: number;
  /** Whether the match is in the name and the owner alone. */
  isName: boolean;
}

/** A repository belongs to the first one that it matches. */
const TIERS = {
  /** The text is the whole name, apart from case, accents, spaces and punctuation; or the owner's words and the name. */
  exact: { weight: 250, isName: true },
  /** All words occur in the name and the owner. */
  named: { weight: 20, isName: true },
  /** The text is the beginning of the name; or the owner's words, a slash, and the beginning of the name. */
  beginning: { weight: 15, isName: true },
  /** All words occur in the name and the owner, if the last one is read as a prefix. */
  namedPrefix: { weight: 4, isName: true },
  /** All words occur in name, owner, description, topics and language. */
  anywhere: { weight: 1, isName: false },
  /** The same, if the last one is read as a prefix. */
  anywherePrefix: { weight: 1 / 4, isName: false },
} as const satisfies Readonly<Record<string, Tier>>;

/** A text this short is probably a whole word, such as `C` or `go`. */
const SHORT = 2;
const SHORT_FACTOR = 1 / 64;

/** The tiers for a query, best first. */
export function tiersOf({ words, fullName }: WordsQuery): readonly Tier[] {
  const prefix =
    words.length === 1 && fullName === undefined && (words[0] ?? "").length <= SHORT ? SHORT_FACTOR : 1;
  const { exact, named, beginning, namedPrefix, anywhere, anywherePrefix } = TIERS;
  return [
    // An owner and a name are meant to be one repository.
    fullName === undefined ? exact : { ...exact, weight: Number.MAX_SAFE_INTEGER },
    named,
    { ...beginning, weight: beginning.weight * prefix },
    { ...namedPrefix, weight: namedPrefix.weight * prefix },
    anywhere,
    anywherePrefix,
  ];
}

/** Runs read for a prefix without lists of its own, in the blocks of one step. */
const RUNS_OF_PREFIX = 1_000;

/** The runs that a query needs in some blocks. */
export interface Rows {
  /** By block and word; for a prefix, by the number under which the prefixes of a block are stored. */
  runs: ReadonlyMap<number, ReadonlyMap<string, Uint8Array>>;
  /** By block and prefix without lists of its own: the runs whose first word has that prefix. */
  further: ReadonlyMap<number, ReadonlyMap<string, readonly Uint8Array[]>>;
}

/** The words of a query that are looked up as they are. */
function wordsOf({ words, owner, name }: WordsQuery): string[] {
  return [...new Set([...words, ...owner, ...(name === "" ? [] : [name])])];
}

/** The words of a query that may be prefixes. */
function prefixesOf({ words, name }: WordsQuery): string[] {
  return [...new Set([words.at(-1) ?? "", name])].filter((prefix) => prefix !== "");
}

/** Reads the runs of a query in some blocks. */
export async function readRows(
  reader: RunReader,
  query: WordsQuery,
  blocks: readonly number[],
): Promise<Rows> {
  const [words, prefixes] = [wordsOf(query), prefixesOf(query)];
  const keys = blocks.flatMap((block) => [
    ...words.map((word) => ({ block, word })),
    ...prefixes.map((word) => ({ block: prefixBlock(block), word })),
  ]);
  const runs = new Map<number, Map<string, Uint8Array>>();
  for (const [block, word, data] of await reader.find(keys)) {
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

  /** The matches by tier, in the order of `tiersOf`; undefined for none, or for tiers not wanted. No position is in two tiers. */
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
