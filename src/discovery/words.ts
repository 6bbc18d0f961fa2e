/**
 * The words of repositories and of search texts, and which repositories have which words. One function splits both, so every indexed word
 * can be found. The words of a load are in packed lists that never change. A repository whose texts changed since is dead there, and its
 * present words are in maps.
 */
import { fullNameIn, splitAddress } from "../repositories/repositories.js";
import { PackedLists, SlotSet } from "./slots.js";

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
export function nameWords(name: string): string[] {
  const own = wordsOf(name);
  const words = own.length === 1 ? own : [cut(own.join("")), ...own];
  if (!CAPITAL_INSIDE.test(name)) return words;
  const humps = name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return [...words, ...wordsOf(humps)];
}

/** Endings of the forms of an English word. */
const ENDINGS = ["ing", "ers", "er", "ed", "ic", "ies", "es", "s", "e", "y"];
const ENDING = new RegExp(`(?:${ENDINGS.join("|")})$`);
const SHORTEST_STEM = 3;

/** The beginning that the forms of a word have in common: that of "agents" and "agentic" is "agent". */
export function stemOf(word: string): string {
  const stem = word.replace(ENDING, "");
  return stem.length < SHORTEST_STEM ? word : stem;
}

/** The stems of the words of a repository but its owner's, each once, without single letters. */
export function stemsOf({ name, description, topics }: Texts): ReadonlySet<string> {
  const words = [...nameWords(name), ...wordsOf(description ?? ""), ...topics.flatMap(nameWords)];
  return new Set(words.slice(0, MAX_INDEXED_WORDS).flatMap((word) => (word.length < 2 ? [] : stemOf(word))));
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
  if (!/[/:]/.test(text)) return text;
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

/** How far a search looks: for names that are the word as a whole, in names and owners, or in all texts. */
export const WHOLE = 0;
export const NAME = 1;
export const TEXT = 2;
export type WordPlace = typeof WHOLE | typeof NAME | typeof TEXT;
const PLACES = [WHOLE, NAME, TEXT] as const;

/** Shorter prefixes find words of names only: nearly every description has a word with a given letter at its beginning. */
const TEXT_PREFIX_FROM = 3;

/** The whole name of a repository whose name has no word. No text has it. */
const NO_WORD = " ";
/** From this many words on, further ones of texts are left out. Those of names are not, so that no texts can keep names from being found. */
const MAX_WORDS = 2_000_000;
/** A longer slice of a text makes V8 keep the whole text. */
const LONGEST_PART = 12;
/** Words in a step. */
const STEP = 20_000;

/** Collects the words of repositories, in the order of their slots. */
export class WordCollector {
  readonly #maxWords: number;
  /** The words in the order of their first appearance. */
  readonly #numbers = new Map<string, number>();
  /** By word: the last slot that has it, plus 1. */
  readonly #last: number[] = [];
  /** By place and slot: the numbers of its words, each at its first place. */
  readonly #found = { [WHOLE]: new PackedLists(), [NAME]: new PackedLists(), [TEXT]: new PackedLists() };
  #size = 0;
  /** How many more words of the repository are indexed. */
  #room = 0;
  /** How many words were left out so far: of repositories with very many, or when there are very many in all. */
  leftOut = 0;

  constructor(maxWords = MAX_WORDS) {
    this.#maxWords = maxWords;
  }

  add(texts: Texts): void {
    const { whole, names, terms } = documentOf(texts);
    this.#size++;
    this.#room = MAX_INDEXED_WORDS;
    this.#add(whole === "" ? NO_WORD : whole, WHOLE);
    for (const word of names) this.#add(word, NAME);
    for (const word of terms) this.#add(word, TEXT);
    for (const place of PLACES) this.#found[place].endList();
  }

  #add(word: string, place: WordPlace): void {
    if (word === "") return;
    let number = this.#numbers.get(word);
    if (number !== undefined && this.#last[number] === this.#size) return;
    const isFull = number === undefined && place === TEXT && this.#numbers.size >= this.#maxWords;
    if (this.#room === 0 || isFull) {
      this.leftOut++;
      return;
    }
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(word.length > LONGEST_PART ? Buffer.from(word).toString() : word, number);
    }
    this.#last[number] = this.#size;
    this.#room--;
    this.#found[place].push(number);
  }

  /** Makes the index, in short steps. */
  *finish(capacity: number): Generator<void, WordIndex> {
    const byBegin = new Map<string, string[]>();
    for (const [word, number] of this.#numbers) {
      const begin = word.slice(0, 2);
      const same = byBegin.get(begin);
      if (same === undefined) byBegin.set(begin, [word]);
      else same.push(word);
      if (number % STEP === 0) yield;
    }
    const words: string[] = [];
    const indexes = new Uint32Array(this.#numbers.size);
    for (const begin of [...byBegin.keys()].sort()) {
      for (const word of byBegin.get(begin)?.sort() ?? [])
        indexes[this.#numbers.get(word) ?? 0] = words.push(word) - 1;
      yield;
    }
    const lengths = new Uint8Array(this.#size);
    const lists: PackedLists[] = [];
    for (const place of PLACES) {
      const { starts } = this.#found[place];
      for (let slot = 0; slot < this.#size; slot++)
        lengths[slot] = (lengths[slot] ?? 0) + (starts[slot + 1] ?? 0) - (starts[slot] ?? 0);
      lists.push(yield* this.#found[place].inverted(indexes));
    }
    return new WordIndex({ words, lists, lengths, capacity });
  }
}

export class WordIndex {
  /** Those of the load, in order. */
  readonly #words: readonly string[];
  /** By place and index of a word. */
  readonly #lists: readonly PackedLists[];
  /** By slot: the number of its words in the load. */
  readonly #lengths: Uint8Array;
  /** Slots whose words are no longer those of the load. */
  readonly #dead: SlotSet;
  /** The words of those and of new ones: by the first two letters, the word, and the slot. */
  readonly #added = new Map<string, Map<string, Map<number, WordPlace>>>();
  readonly #documents = new Map<number, readonly string[]>();

  constructor({ words, lists, lengths, capacity }: Parts) {
    this.#words = words;
    this.#lists = lists;
    this.#lengths = lengths;
    this.#dead = new SlotSet(capacity);
  }

  /** Number of repositories whose words are in maps, which take many times the room. */
  get changed(): number {
    return this.#documents.size;
  }

  /** Notes the present words of a repository. */
  replace(slot: number, texts: Texts): void {
    for (const word of this.#documents.get(slot) ?? []) {
      const words = this.#added.get(word.slice(0, 2));
      const slots = words?.get(word);
      slots?.delete(slot);
      if (slots?.size === 0) words?.delete(word);
    }
    if (slot >= this.#dead.bits.length * 32) this.#dead.grow(slot + 32 * 1_024);
    this.#dead.add(slot);
    const { whole, names, terms } = documentOf(texts);
    const places = new Map<string, WordPlace>([[whole === "" ? NO_WORD : whole, WHOLE]]);
    const add = (words: readonly string[], place: WordPlace) => {
      for (const word of words)
        if (word !== "" && !places.has(word) && places.size < MAX_INDEXED_WORDS) places.set(word, place);
    };
    add(names, NAME);
    add(terms, TEXT);
    for (const [word, place] of places)
      entryOf(entryOf(this.#added, word.slice(0, 2)), word).set(slot, place);
    this.#documents.set(slot, [...places.keys()]);
  }

  /** Adds to a set the slots of repositories that have a word, or one that begins with it. Returns whether there are any. */
  addTo(set: SlotSet, word: string, { place, isPrefix }: { place: WordPlace; isPrefix: boolean }): boolean {
    const upTo = isPrefix && word.length < TEXT_PREFIX_FROM ? Math.min(place, NAME) : place;
    const [from, to] = this.#range(word, isPrefix);
    let isFound = false;
    for (const { starts, numbers } of this.#lists.slice(0, upTo + 1))
      for (let i = starts[from] ?? 0, end = starts[to] ?? 0; i < end; i++) {
        const slot = numbers[i] ?? 0;
        if (this.#dead.has(slot)) continue;
        set.add(slot);
        isFound = true;
      }
    for (const slots of this.#addedSlots(word, isPrefix))
      for (const [slot, own] of slots) {
        if (own > upTo) continue;
        set.add(slot);
        isFound = true;
      }
    return isFound;
  }

  /** The number of words of a repository. */
  lengthOf(slot: number): number {
    return this.#documents.get(slot)?.length ?? this.#lengths[slot] ?? 0;
  }

  /** The slots of repositories with a word of this stem, once for each form; of more than `most` only the first ones. */
  withStem(stem: string, most: number): number[] {
    const found: number[] = [];
    for (const ending of ["", ...ENDINGS]) {
      const [word] = this.#range(stem + ending, false);
      if (this.#words[word] !== stem + ending || stemOf(stem + ending) !== stem) continue;
      for (const { starts, numbers } of this.#lists)
        for (let i = starts[word] ?? 0, end = starts[word + 1] ?? 0; i < end && found.length <= most; i++) {
          const slot = numbers[i] ?? 0;
          if (!this.#dead.has(slot)) found.push(slot);
        }
    }
    for (const [word, slots] of this.#added.get(stem.slice(0, 2)) ?? [])
      if (stemOf(word) === stem) found.push(...slots.keys());
    return found;
  }

  *#addedSlots(word: string, isPrefix: boolean): Generator<ReadonlyMap<number, WordPlace>> {
    const key = word.slice(0, 2);
    if (!isPrefix) {
      const slots = this.#added.get(key)?.get(word);
      if (slots !== undefined) yield slots;
      return;
    }
    for (const [begin, words] of this.#added) {
      if (!begin.startsWith(key)) continue;
      for (const [own, slots] of words) if (own.startsWith(word)) yield slots;
    }
  }

  /** The indexes of the words that begin with one, or of that word: from the first one to before the second. */
  #range(word: string, isPrefix: boolean): readonly [from: number, to: number] {
    const from = this.#firstFrom(word);
    if (isPrefix) return [from, this.#firstFrom(`${word}\uffff`)];
    return [from, this.#words[from] === word ? from + 1 : from];
  }

  /** The index of the first word that is not before a text. */
  #firstFrom(text: string): number {
    let [low, high] = [0, this.#words.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#words[middle] ?? "") < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** About the `most` most frequent words that at least `least` repositories have in a name or text, in short steps. */
  *frequentWords({ least, most }: { least: number; most: number }): Generator<void, [string, number][]> {
    const sizes = new Uint32Array(this.#words.length);
    for (const { starts } of this.#lists) {
      for (let i = 0; i < sizes.length; i++)
        sizes[i] = (sizes[i] ?? 0) + (starts[i + 1] ?? 0) - (starts[i] ?? 0);
      yield;
    }
    const from = Math.max(least, sizes.toSorted().at(-most) ?? 0);
    yield;
    const found = new Map<string, number>();
    for (const [i, size] of sizes.entries()) {
      if (size >= from) found.set(this.#words[i] ?? "", size);
      if (i % STEP === 0) yield;
    }
    for (const words of this.#added.values())
      for (const [word, { size }] of words)
        if (found.has(word) || size >= least) found.set(word, (found.get(word) ?? 0) + size);
    return [...found];
  }
}

interface Parts {
  words: readonly string[];
  lists: readonly PackedLists[];
  lengths: Uint8Array;
  capacity: number;
}

function entryOf<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let entry = map.get(key);
  if (entry === undefined) {
    entry = new Map();
    map.set(key, entry);
  }
  return entry;
}
