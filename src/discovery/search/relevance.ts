/** How well repositories match a search text, and in which order that puts them. */
import { compareSlots, firstOf } from "../memory/order.js";
import { type Evaluation, hashOf, type ReadModel } from "../memory/read-model.js";
import type { SlotSet } from "../memory/slot-set.js";
import { NAME, TEXT, WHOLE, type WordPlace } from "./word-index.js";
import type { WordsQuery } from "./words.js";

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
