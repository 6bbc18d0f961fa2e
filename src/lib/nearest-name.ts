import { distance } from "fastest-levenshtein";

/** A name with more errors than one in this number of characters is another name. */
const CHARACTERS_PER_ERROR = 4;

/** The known name that was probably meant, in any case of letters; undefined if none is near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const plain = name.toLowerCase();
  let best: { name: string; errors: number } | undefined;
  for (const candidate of known) {
    const errors = errorsBetween(plain, candidate.toLowerCase());
    const most = Math.max(1, Math.floor(candidate.length / CHARACTERS_PER_ERROR));
    if (errors <= most && (best === undefined || errors < best.errors)) best = { name: candidate, errors };
  }
  return best?.name;
}

/** `; did you mean X?` for the nearest known name; empty without one. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

/** Letters that are left out, added or replaced; swapped ones are one error. */
function errorsBetween(a: string, b: string): number {
  const errors = distance(a, b);
  return errors === 2 && lettersOf(a) === lettersOf(b) ? 1 : errors;
}

function lettersOf(name: string): string {
  return [...name].sort().join("");
}
