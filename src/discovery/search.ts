/**
 * Which repositories match a search text, how well, and in which order that puts them; typing errors are corrected. Words are defined in
 * `words.ts`. No input is syntax.
 */
import { type Evaluation, hashOf, type ReadModel } from "./model.js";
import { compareSlots, firstOf, type SlotSet } from "./slots.js";
import { NAME, parseQuery, TEXT, WHOLE, type WordPlace, type WordsQuery } from "./words.js";

/** A search with fewer matches is checked for typing errors; while somebody types, few matches are no sign of one. */
const FEW = { all: 5, names: 1 } as const;
/** A correction needs this many times the matches of the text as it is. */
const FAR_MORE = 10;
/** Maximum number of words of a query that are corrected. */
const CORRECTED_WORDS = 3;

export interface SearchOptions {
  scope: SearchScope;
  /** Corrects typing errors; undefined: not to be done. */
  vocabulary: Vocabulary | undefined;
}

/** The matches of a text; `corrected`: the text without its typing errors, if the search used that. */
export function searchIn(
  evaluation: Evaluation,
  text: string,
  { scope, vocabulary }: SearchOptions,
): { matches: Matches; corrected: string | null } | undefined {
  const query = parseQuery(text);
  if (query === undefined) return undefined;
  const matches = findMatches(evaluation, query, scope);
  const found = { matches, corrected: null };
  if (vocabulary === undefined || matches.hasExact || matches.total >= FEW[scope]) return found;
  let corrected = query.text;
  for (const word of query.words.filter((one) => !vocabulary.has(one)).slice(0, CORRECTED_WORDS))
    corrected = corrected.replace(word, () => vocabulary.nearest(word) ?? word);
  const other = corrected === query.text ? undefined : parseQuery(corrected);
  if (other === undefined) return found;
  const better = findMatches(evaluation, other, scope);
  return better.total > matches.total * FAR_MORE ? { matches: better, corrected } : found;
}

/**
 * The ways to match, best first; a repository belongs to the first one that it matches. In each it is treated as if it were that many
 * times as popular, by its rank by stars: the 2,000th with exactly the name searched for comes before the 10th in whose
 * description the word occurs. In a small catalogue this puts one tier after the other. Ties go to the earlier tier, then to the
 * more popular repository.
 */
const WEIGHTS = {
  /** The text is the whole name, apart from case, accents, spaces and punctuation; or the owner's words and the name. */
  exact: 250,
  /** All words occur in the name and the owner. */
  named: 20,
  /** The text is the beginning of the name; or the owner's words, a slash, and the beginning of the name. */
  beginning: 15,
  /** All words occur in the name and the owner, if the last one is read as a prefix. */
  namedPrefix: 4,
  /** All words occur in name, owner, description, topics and language. */
  anywhere: 1,
  /** The same, if the last one is read as a prefix. */
  anywherePrefix: 1 / 4,
} as const;

/** A text this short is probably a whole word, such as `C` or `go`. */
const SHORT = 2;
const SHORT_FACTOR = 1 / 64;

/** The weights of the tiers for a query. */
export function weightsOf({ words, fullName }: WordsQuery): number[] {
  const { exact, named, beginning, namedPrefix, anywhere, anywherePrefix } = WEIGHTS;
  const isShort = words.length === 1 && fullName === undefined && (words[0] ?? "").length <= SHORT;
  const factor = isShort ? SHORT_FACTOR : 1;
  return [
    // An owner and a name are meant to be one repository.
    fullName === undefined ? exact : Number.MAX_SAFE_INTEGER,
    named,
    beginning * factor,
    namedPrefix * factor,
    anywhere,
    anywherePrefix,
  ];
}

/** The texts that a search covers: names alone, for suggestions, or all. */
export type SearchScope = "all" | "names";

interface Tier {
  weight: number;
  set: SlotSet;
}

/** The listed repositories that match a text. */
export interface Matches {
  query: WordsQuery;
  /** Best first; no repository is in two. */
  tiers: readonly Tier[];
  /** Whether a repository has exactly this name. */
  hasExact: boolean;
  total: number;
}

/** Finds the matches of a query. */
export function findMatches(evaluation: Evaluation, query: WordsQuery, scope: SearchScope): Matches {
  const { model } = evaluation;
  const { words, owner, name } = query;
  const [rest, last] = [words.slice(0, -1), words.at(-1) ?? ""];
  const withWord = (word: string, place: WordPlace, isPrefix = false): SlotSet | undefined => {
    const set = evaluation.set();
    return model.words.addTo(set, word, { place, isPrefix }) ? set : undefined;
  };
  const withAll = (some: readonly string[], place: WordPlace): SlotSet | "any" | undefined => {
    let all: SlotSet | "any" | undefined = "any";
    for (const word of some) {
      const set: SlotSet | undefined = all && withWord(word, place);
      all = set && all !== "any" && all !== undefined ? set.and(all) : set;
    }
    return all;
  };
  const within = (limit: SlotSet | "any" | undefined, find: () => SlotSet | undefined) => {
    const set = limit === undefined ? undefined : find();
    return limit === "any" || limit === undefined ? set : set?.and(limit);
  };
  const names = withAll(rest, NAME);
  const owned = name === "" ? undefined : withAll(owner, NAME);
  const texts = scope === "all" ? withAll(rest, TEXT) : undefined;
  const exact = within(owned, () => withWord(name, WHOLE));
  const exactLast = rest.length === 0 ? undefined : within(names, () => withWord(last, WHOLE));
  const found = [
    exact === undefined || exactLast === undefined ? (exact ?? exactLast) : exact.or(exactLast),
    within(names, () => withWord(last, NAME)),
    within(owned, () => withWord(name, WHOLE, true)),
    within(names, () => withWord(last, NAME, true)),
    within(texts, () => withWord(last, TEXT)),
    within(texts, () => withWord(last, TEXT, true)),
  ];
  const weights = weightsOf(query);
  const better = evaluation.set();
  const tiers: Tier[] = [];
  let total = 0;
  let hasExact = false;
  for (const [i, set] of found.entries()) {
    if (set === undefined) continue;
    set.and(model.columns.listed).andNot(better);
    better.or(set);
    const { size } = set;
    if (size === 0) continue;
    total += size;
    hasExact ||= i === 0;
    tiers.push({ weight: weights[i] ?? 0, set });
  }
  return { query, tiers, hasExact, total };
}

export function allOf(evaluation: Evaluation, { tiers }: Matches): SlotSet {
  const all = evaluation.set();
  for (const { set } of tiers) all.or(set);
  return all;
}

/** The slots of the best matches, at most `count`. */
export function bestOf(model: ReadModel, { query, tiers }: Matches, count: number): number[] {
  const { plain, nameHash } = model.columns;
  const order = model.order({ column: "stars" });
  const compare = compareSlots(order, "desc");
  // Among those with the same words in their full names, one has that very name.
  const named: number[] = [];
  const wanted = query.fullName === undefined ? undefined : hashOf(query.fullName);
  if (wanted !== undefined)
    tiers[0]?.set.forBlocks((slots, length) => {
      for (const slot of slots.subarray(0, length)) if (nameHash[slot] === wanted) named.push(slot);
    });
  const ranked = tiers.flatMap(({ set, weight }, tier) =>
    firstOf(set, order, { direction: "desc", count }).map((slot) => ({
      slot,
      tier,
      key: Math.floor(model.starRank(plain.stars[slot] ?? 0) / weight),
    })),
  );
  ranked.sort((a, b) => a.key - b.key || a.tier - b.tier || compare(a.slot, b.slot));
  const others = ranked.flatMap(({ slot }) => (named.includes(slot) ? [] : [slot]));
  return [...named.sort(compare), ...others].slice(0, count);
}

/** Words with fewer or more letters are left as they are: nearly every short one is one letter away from another. */
const SHORTEST = 4;
const LONGEST = 20;
/** Size of the vocabulary for corrections, and the fewest repositories that a word of it occurs in. */
export const MOST_WORDS = 30_000;
export const FREQUENT_FROM = 3;

/**
 * Words that typing errors are corrected to: the most frequent ones. Finding the nearest one
 * compares some thousands of words at most, however large the catalogue is.
 */
export class Vocabulary {
  readonly #known: ReadonlySet<string>;
  /** By length with the first two letters, and with the last one, most frequent first; with the rank of each by frequency. */
  readonly #byEnds = new Map<string, { word: string; rank: number }[]>();

  constructor(frequent: readonly (readonly [word: string, repositories: number])[]) {
    const words = frequent
      .filter(([word]) => word.length >= SHORTEST - 1 && word.length <= LONGEST + 1)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, MOST_WORDS)
      .map(([word]) => word);
    this.#known = new Set(words);
    for (const [rank, word] of words.entries()) {
      for (const key of keysOf(word, word.length)) {
        const same = this.#byEnds.get(key);
        if (same === undefined) this.#byEnds.set(key, [{ word, rank }]);
        else same.push({ word, rank });
      }
    }
  }

  has(word: string): boolean {
    return this.#known.has(word);
  }

  /**
   * The most frequent word that one typing error turns into this one: a letter left out, added or replaced, or two neighbours
   * swapped. Undefined without one, or if the word is very short or long.
   */
  nearest(word: string): string | undefined {
    if (word.length < SHORTEST || word.length > LONGEST) return undefined;
    let best: { word: string; rank: number } | undefined;
    for (const length of [word.length - 1, word.length, word.length + 1]) {
      for (const key of keysOf(word, length)) {
        for (const other of this.#byEnds.get(key) ?? []) {
          if (best !== undefined && other.rank > best.rank) break;
          if (isOneErrorAway(word, other.word)) best = other;
        }
      }
    }
    return best?.word;
  }
}

/** Two words of at least three letters that are one error apart begin with the same two letters or end with the same one. */
function keysOf(word: string, length: number): [string, string] {
  return [`${length} ${word.slice(0, 2)}`, `${length} ${word.slice(-1)} `];
}

/** Whether two different words are the same but for one letter that is left out, added or replaced, or two swapped ones. */
export function isOneErrorAway(a: string, b: string): boolean {
  return a.length <= b.length ? isNear(a, b) : isNear(b, a);
}

/** `long` is not shorter than `short`. Compares thousands of words for a search, so it allocates nothing. */
function isNear(short: string, long: string): boolean {
  const { length } = short;
  const more = long.length - length;
  if (more > 1) return false;
  let same = 0;
  while (same < length && short.charCodeAt(same) === long.charCodeAt(same)) same++;
  let end = 0;
  while (end < length - same && short.charCodeAt(length - 1 - end) === long.charCodeAt(long.length - 1 - end))
    end++;
  const other = length - same - end;
  if (more === 1) return other === 0;
  if (other === 1) return true;
  return other === 2 && short[same] === long[same + 1] && short[same + 1] === long[same];
}
