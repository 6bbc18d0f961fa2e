/**
 * The words of repositories and of search texts. One function splits both, so every indexed word can be found. A search text also has a
 * form, such as an owner and a name.
 */
import { fullNameIn, splitAddress } from "../../repositories/repositories.js";

/** Maximum number of words of a query, and of an indexed text; further ones are ignored. */
const MAX_QUERY_WORDS = 8;
const MAX_TEXT_WORDS = 200;
const MAX_WORD_LENGTH = 40;
/** Maximum number of distinct words of a repository that are indexed; further ones are left out. */
export const MAX_INDEXED_WORDS = 64;

/** Scripts written without spaces. Each character is a word, so that any part of a name can be found. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Marks, and vowel signs that became letters in Unicode 8: SQLite's tokenizer would split a word at each. */
const MARK = /[\p{M}\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]/gu;
/** A run of letters and digits, with the signs that distinguish C, C++ and C#. */
const WORD = /[\p{L}\p{N}]+[+#]*/gu;

/** The same in a text that is ASCII in lower case. */
const ASCII_WORD = /[a-z0-9]+[+#]*/g;
const ASCII_TEXT = /^[\0-\x7f]*$/;

/**
 * The words of a text, by the same rules for documents and queries on both engines: compatibility forms folded, accents and
 * case removed, split at everything that is neither letter nor digit.
 */
export function wordsOf(text: string, limit = MAX_TEXT_WORDS): string[] {
  if (ASCII_TEXT.test(text)) {
    const found: string[] = text.toLowerCase().match(ASCII_WORD) ?? [];
    if (found.length > limit) found.length = limit;
    if (text.length > MAX_WORD_LENGTH)
      for (const [i, word] of found.entries()) if (word.length > MAX_WORD_LENGTH) found[i] = cut(word);
    return found;
  }
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

/** A text as one word, the form in which names are compared: `next.js` and `NextJS` are the same. Empty for a text without words. */
function wholeOf(text: string): string {
  return cut(wordsOf(text).join(""));
}

/** Whether a name may have parts that begin with a capital. */
const CAPITAL_INSIDE = /.(?:[A-Z]|[^\0-\x7f])/s;

/** The words of a name: all of it as one word, its own if they are several, and its parts in `CamelCase`. */
function nameWords(name: string): string[] {
  const own = wordsOf(name);
  const words = own.length === 1 ? own : [cut(own.join("")), ...own];
  if (!CAPITAL_INSIDE.test(name)) return words;
  const humps = name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return [...words, ...wordsOf(humps)];
}

/** The query of a search text. */
export interface WordsQuery {
  /** In lower case; only the full name of an address. */
  text: string;
  /** All must match, each once; the last one may be a prefix. */
  words: readonly string[];
  /** The name that the text may be, or the beginning of one, as one word; empty if it cannot be one. */
  name: string;
  /** Words of the owner, if the text is an owner and a name. */
  owner: readonly string[];
  /** The text as a full name in lower case, if it has the form of one. */
  fullName: string | undefined;
}

/** Parses a search text; undefined if it holds no word. Addresses of repositories are reduced to their full names. */
export function parseQuery(text: string): WordsQuery | undefined {
  const plain = withoutAddress(text.trim()).toLowerCase().normalize("NFC");
  const words = queryWords(plain);
  if (words.length === 0) return undefined;
  const slash = plain.lastIndexOf("/");
  if (slash < 0 || /\s/.test(plain))
    return { text: plain, words, name: wholeOf(plain), owner: [], fullName: undefined };
  return {
    text: plain,
    words,
    name: wholeOf(plain.slice(slash + 1)),
    owner: [...new Set(wordsOf(plain.slice(0, slash)))].slice(0, words.length),
    fullName: plain,
  };
}

/** The full name in the address of a repository, however it is written; any other text as it is. */
function withoutAddress(text: string): string {
  const parts = splitAddress(text, (host) => /\b(?:github|gitlab|codeberg)\b/.test(host));
  if ("problem" in parts) return text;
  const { host, prefix, segments } = parts;
  if (host === undefined && prefix === undefined)
    return segments.length > 1 ? segments.join("/").replace(/\.git$/, "") : text;
  const isNested = /gitlab/i.test(host ?? prefix ?? "") || segments.includes("-");
  return fullNameIn(isNested ? "gitlab" : "github", segments) ?? text;
}

/** The texts of a repository that search covers. */
export interface Texts {
  owner: string;
  name: string;
  description: string | null;
  topics: readonly string[];
  language: string | null;
}

/** The words of a repository. A word may come several times, and counts at its first place. Empty words do not count. */
interface WordDocument {
  /** The name as one word. */
  whole: string;
  /** Further words of name and owner. */
  names: readonly string[];
  /** Words of the description, the topics and the language. */
  terms: readonly string[];
}

/** Topics come last, as lists can be filtered by them too. */
export function documentOf({ owner, name, description, topics, language }: Texts): WordDocument {
  const [whole = "", ...names] = nameWords(name);
  return {
    whole,
    names: [...names, ...nameWords(owner)],
    terms: [...wordsOf(language ?? ""), ...wordsOf(description ?? ""), ...topics.flatMap(nameWords)],
  };
}
