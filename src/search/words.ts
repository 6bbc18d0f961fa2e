import type { Repository } from "../catalog/catalog.js";

/** Words that count of a query, and words indexed of a text. Further ones are ignored. */
const MAX_QUERY_WORDS = 8;
const MAX_TEXT_WORDS = 200;
const MAX_WORD_LENGTH = 40;

/** Scripts written without spaces. Each character is a word, so that any part of a name can be found. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/**
 * Marks, and vowel signs that became letters in Unicode 8: SQLite's tokenizer still treats them as marks and would split a
 * word at each.
 */
const MARK = /[\p{M}\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]/gu;
/** A run of letters and digits, with the signs that distinguish C, C++ and C#. */
const WORD = /[\p{L}\p{N}]+[+#]*/gu;

/**
 * The words of a text, by the same rules for documents and queries on both engines: compatibility forms folded, accents and
 * case removed, split at everything that is neither letter nor digit.
 */
export function wordsOf(text: string, limit = MAX_TEXT_WORDS): string[] {
  const folded = text.normalize("NFKD").replaceAll(MARK, "").toLowerCase().normalize("NFC");
  const words: string[] = [];
  for (const [run] of folded.matchAll(WORD)) {
    for (const word of UNSPACED.test(run) ? splitUnspaced(run) : [run]) {
      words.push(cut(word));
      if (words.length >= limit) return words;
    }
  }
  return words;
}

/** A word cut to its maximum length, without half a character at its end. */
function cut(word: string): string {
  return word.length <= MAX_WORD_LENGTH
    ? word
    : word.slice(0, MAX_WORD_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

function splitUnspaced(run: string): string[] {
  const words: string[] = [];
  let spaced = "";
  for (const character of run) {
    if (!UNSPACED.test(character)) {
      spaced += character;
      continue;
    }
    if (spaced !== "") words.push(spaced);
    spaced = "";
    words.push(character);
  }
  if (spaced !== "") words.push(spaced);
  return words;
}

/** The words of a query, each once. */
export function queryWords(text: string): string[] {
  return [...new Set(wordsOf(text, MAX_QUERY_WORDS))];
}

/** The words of a name: its own, the parts of `CamelCase`, and the whole name as one word. */
function nameWords(name: string): string[] {
  const humps = name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return [...wordsOf(name), ...wordsOf(humps), cut(wordsOf(name).join(""))];
}

/** The words of a repository in the search index: `names` from owner and name, `terms` from the rest. */
export function documentOf(repository: Repository): {
  repositoryId: number;
  names: string[];
  terms: string[];
} {
  const { owner, name, description, topics, language } = repository;
  const names = [...nameWords(name), ...nameWords(owner)];
  const terms = [
    ...wordsOf(description ?? ""),
    ...topics.flatMap((topic) => nameWords(topic)),
    ...wordsOf(language ?? ""),
  ];
  const distinct = (words: string[]) => [...new Set(words)].filter((word) => word !== "");
  return { repositoryId: repository.id, names: distinct(names), terms: distinct(terms) };
}
