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
