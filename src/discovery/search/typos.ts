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
