import {
  type Counts,
  continues,
  keysOf,
  type LastCounts,
  type Likeness,
  likenessOf,
  type NameFacts,
  strengthOf,
} from "./likeness.js";

/** A name that ends. */
export interface Ending extends NameFacts {
  id: number;
  /** When it was first seen. */
  firstAt: number;
  last: Counts;
}

/** A name that begins. */
export interface Beginning extends NameFacts {
  id: number;
  first: Counts;
}

/** Two names with enough in common to look at their counts. */
export interface Candidate {
  from: Ending;
  to: Beginning;
  likeness: Likeness;
}

/** Names compared with one name that begins, per key that they share: those with the nearest counts. */
const MOST_COMPARED = 20;

/** Names that end, found by the keys they share with another name. */
export class Endings {
  readonly #byKey: Map<string, Ending[]>;

  constructor(endings: readonly Ending[]) {
    const pairs = endings.flatMap((ending) => keysOf(ending).map((key) => ({ key, ending })));
    const grouped = Map.groupBy(pairs, ({ key }) => key);
    this.#byKey = new Map(
      [...grouped].map(([key, group]) => [
        key,
        group.map(({ ending }) => ending).sort((a, b) => a.last.stars - b.last.stars || a.id - b.id),
      ]),
    );
  }

  /** Whether any of them may be alike. */
  hasLike(facts: NameFacts): boolean {
    return keysOf(facts).some((key) => this.#byKey.has(key));
  }

  /** Those that are alike. Compares a bounded number, however many share an owner, a name or a description. */
  candidatesOf(to: Beginning): Candidate[] {
    const found = new Map<number, Candidate>();
    for (const key of keysOf(to)) {
      for (const from of nearest(this.#byKey.get(key) ?? [], to.first.stars)) {
        // Of two names that begin in one file, neither is the earlier one.
        if (from.id === to.id || from.firstAt >= to.first.at || found.has(from.id)) continue;
        found.set(from.id, { from, to, likeness: likenessOf(from, to) });
      }
    }
    return [...found.values()];
  }
}

/** The endings with the counts nearest to `stars`, of a list in the order of stars. */
function nearest(endings: readonly Ending[], stars: number): readonly Ending[] {
  if (endings.length <= MOST_COMPARED) return endings;
  let low = 0;
  let high = endings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((endings[middle]?.last.stars ?? 0) < stars) low = middle + 1;
    else high = middle;
  }
  const start = Math.max(0, Math.min(low - MOST_COMPARED / 2, endings.length - MOST_COMPARED));
  return endings.slice(start, start + MOST_COMPARED);
}

/**
 * The candidates whose counts continue, each name in at most one of them: the pair with most in common wins. Names of which
 * several pairs have equally much in common are in none.
 */
export function chooseRenames(
  candidates: readonly Candidate[],
  starsPerDay: ReadonlyMap<number, number>,
): Candidate[] {
  const withPace = ({ id, last }: Ending): LastCounts => ({
    ...last,
    starsPerDay: starsPerDay.get(id) ?? 0,
  });
  const possible = candidates.filter(({ from, to, likeness }) =>
    continues(withPace(from), to.first, likeness),
  );
  const byStrength = Map.groupBy(possible, ({ likeness }) => strengthOf(likeness));
  const takenFrom = new Set<number>();
  const takenTo = new Set<number>();
  const chosen: Candidate[] = [];
  for (const [, equal] of [...byStrength].sort(([a], [b]) => b - a)) {
    const open = equal.filter(({ from, to }) => !takenFrom.has(from.id) && !takenTo.has(to.id));
    const ofFrom = countBy(open, ({ from }) => from.id);
    const ofTo = countBy(open, ({ to }) => to.id);
    for (const candidate of open) {
      const { from, to } = candidate;
      takenFrom.add(from.id);
      takenTo.add(to.id);
      if (ofFrom.get(from.id) === 1 && ofTo.get(to.id) === 1) chosen.push(candidate);
    }
  }
  return chosen;
}

function countBy<T>(items: readonly T[], idOf: (item: T) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of items) counts.set(idOf(item), (counts.get(idOf(item)) ?? 0) + 1);
  return counts;
}
