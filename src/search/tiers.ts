import type { WordsQuery } from "./query.js";

/**
 * How well a repository matches. A repository of a tier is treated as if it were `weight` times as popular, by its position
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

/** A text this short is rather meant as a word, such as `C` or `go`, than as the beginning of one. */
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

/** A tier with the positions found, ascending. */
export interface FoundTier {
  tier: Tier;
  positions: number[];
}

function keyOf(position: number, { weight }: Tier): number {
  return Math.floor(position / weight);
}

/** The key of the `count`-th best position; undefined if there are fewer. No position with a greater key is among the first. */
export function boundOf(found: readonly FoundTier[], count: number): number | undefined {
  if (found.reduce((sum, { positions }) => sum + positions.length, 0) < count) return undefined;
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

/** Whether a position from `from` on can have a key of at most `bound`. */
export function isWithin(from: number, tier: Tier, bound: number | undefined): boolean {
  return bound === undefined || keyOf(from, tier) <= bound;
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
export function bestOf(found: readonly FoundTier[], limit: number): number[] {
  let best: Keyed = { positions: [], keys: [] };
  for (const { tier, positions } of found) {
    if (positions.length === 0) continue;
    const next = { positions, keys: positions.map((position) => keyOf(position, tier)) };
    best = best.positions.length === 0 ? next : merged(best, next, limit);
  }
  return best.positions.slice(0, limit);
}

/** Positions with their keys, ascending by key. */
interface Keyed {
  positions: readonly number[];
  keys: readonly number[];
}

/** At most `limit` of both; of equal keys, those of `a` first. */
function merged(a: Keyed, b: Keyed, limit: number): Keyed {
  const [positions, keys]: [number[], number[]] = [[], []];
  let [i, j] = [0, 0];
  while (positions.length < limit && (i < a.keys.length || j < b.keys.length)) {
    const isOfA = j >= b.keys.length || (i < a.keys.length && (a.keys[i] ?? 0) <= (b.keys[j] ?? 0));
    const [source, index] = isOfA ? [a, i++] : [b, j++];
    positions.push(source.positions[index] ?? 0);
    keys.push(source.keys[index] ?? 0);
  }
  return { positions, keys };
}
