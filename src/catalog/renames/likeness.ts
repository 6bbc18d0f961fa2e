import { nameKey } from "../repository.js";

/** What two names of a repository have in common, apart from their counts. */
export interface Likeness {
  sameDescription: boolean;
  /** The same name under another owner. */
  sameName: boolean;
  /** Names that differ in punctuation or a few letters, or of which one is in the other. */
  similarName: boolean;
  sameOwner: boolean;
  sameLanguage: boolean;
}

/** The texts of a repository that are compared. */
export interface Described {
  owner: string;
  name: string;
  /** Its beginning at least. */
  description: string | null;
  language: string | null;
}

/** Shorter descriptions, such as "test", say nothing. */
const MIN_DESCRIPTION = 10;
/** A name in a longer one counts from this length on. */
const MIN_PART = 4;
/** Longer names are compared up to here, to bound the time. */
const MAX_COMPARED = 100;
/** Names are similar if at most one in this many of their letters differs. */
const LETTERS_PER_EDIT = 5;

const fold = (text: string): string => text.trim().toLowerCase();
const letters = (name: string): string =>
  name
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

export function likenessOf(from: Described, to: Described): Likeness {
  const sameName = fold(from.name) === fold(to.name);
  return {
    sameDescription: from.description !== null && descriptionKey(from) === descriptionKey(to),
    sameName,
    similarName: sameName || areSimilar(letters(from.name), letters(to.name)),
    sameOwner: fold(from.owner) === fold(to.owner),
    sameLanguage: from.language !== null && from.language === to.language,
  };
}

/** How much it is, as a whole number; names with the same are equally alike. */
export function strengthOf({
  sameDescription,
  sameName,
  similarName,
  sameOwner,
  sameLanguage,
}: Likeness): number {
  return (
    (sameDescription ? 8 : 0) +
    (sameName ? 4 : similarName ? 2 : 0) +
    (sameOwner ? 2 : 0) +
    (sameLanguage ? 1 : 0)
  );
}

/** Keys of which two names share at least one if they are alike at all. */
export function keysOf(described: Described): string[] {
  const description = descriptionKey(described);
  const name = letters(described.name);
  return [
    `owner ${fold(described.owner)}`,
    ...(name === "" ? [] : [`name ${name}`]),
    ...(description === undefined ? [] : [`description ${description}`]),
  ];
}

/** Undefined for a description that says nothing. */
function descriptionKey({ description, owner, name }: Described): string | undefined {
  const text = fold(description ?? "");
  return text.length < MIN_DESCRIPTION || text === nameKey(owner, name) ? undefined : text;
}

function areSimilar(a: string, b: string): boolean {
  if (a === b) return a !== "";
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= MIN_PART && long.includes(short)) return true;
  const most = Math.floor(long.length / LETTERS_PER_EDIT);
  return long.length - short.length <= most && editDistance(short, long) <= most;
}

/** Letters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (before[j] ?? 0) + (letter === b[j] ? 0 : 1);
      row.push(Math.min(replaced, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}
