/**
 * Which repositories have which words: in their names, or anywhere in their texts. The words of a load are in packed arrays that
 * never change. A repository whose texts changed since is dead there, and its present words are in maps.
 */
import { SlotSet } from "../memory/slot-set.js";
import { type Dictionary, enlarged, Lexicon, NO_NUMBER } from "./lexicon.js";
import { documentOf, MAX_INDEXED_WORDS, nameWords, type Texts } from "./words.js";

/** How far a search looks: for names that are the word as a whole, in names and owners, or in all texts. */
export const WHOLE = 0;
export const NAME = 1;
export const TEXT = 2;
export type WordPlace = typeof WHOLE | typeof NAME | typeof TEXT;

/** Shorter prefixes find words of names only: nearly every description has a word with a given letter at its beginning. */
const TEXT_PREFIX_FROM = 3;

/** Lists of numbers: those of list `i` are `numbers[starts[i]]` up to before `numbers[starts[i + 1]]`. */
export interface PackedLists {
  starts: Uint32Array;
  numbers: Uint32Array;
}

/** Collects the words of repositories, in the order of their slots. */
export class WordCollector {
  readonly #lexicon: Lexicon;
  /** The words of topics, which repeat. */
  readonly #topics = new Map<string, readonly string[]>();
  /** The words of all repositories, each once, those of a repository one after the other: the whole name, other names, texts. */
  #words = new Uint32Array(4_096);
  #count = 0;
  /** By slot: where its words begin, and how many are of names. */
  #starts = new Uint32Array(1_024);
  #names = new Uint32Array(1_024);
  #size = 0;

  constructor(maxWords?: number) {
    this.#lexicon = new Lexicon(maxWords);
  }

  /** How many words were left out so far: of repositories with very many, or when there are very many in all. */
  get leftOut(): number {
    return this.#lexicon.leftOut;
  }

  add({ owner, name, description, topics, language }: Texts): void {
    const lexicon = this.#lexicon;
    lexicon.begin();
    this.#size++;
    if (this.#size >= this.#starts.length) {
      this.#starts = enlarged(this.#starts, this.#size + 1);
      this.#names = enlarged(this.#names, this.#size + 1);
    }
    const begin = this.#count;
    this.#addName(name);
    // The first word is the whole name, also of a name without words.
    if (this.#count === begin) this.#add(lexicon.add(NO_WORD, true));
    this.#addName(owner);
    this.#names[this.#size - 1] = this.#count - begin;
    if (language !== null) this.#addAll(lexicon.read(language));
    if (description !== null) this.#addAll(lexicon.read(description));
    for (const topic of topics) for (const word of this.#wordsOf(topic)) this.#add(lexicon.add(word));
    this.#starts[this.#size] = this.#count;
  }

  #addName(name: string): void {
    // Most names are one word.
    const words = ONE_WORD.test(name) ? [name.toLowerCase()] : nameWords(name);
    for (const word of words) if (word !== "") this.#add(this.#lexicon.add(word, true));
  }

  #wordsOf(topic: string): readonly string[] {
    let words = this.#topics.get(topic);
    if (words === undefined) {
      words = nameWords(topic).filter(Boolean);
      this.#topics.set(topic, words);
    }
    return words;
  }

  #addAll(words: Uint32Array): void {
    for (let i = 0; i < words.length; i++) this.#add(words[i] ?? 0);
  }

  #add(word: number): void {
    if (word === NO_NUMBER) return;
    if (this.#count === this.#words.length) this.#words = enlarged(this.#words, this.#count + 1);
    this.#words[this.#count++] = word;
  }

  /** Makes the index, in short steps. */
  *finish(capacity: number): Generator<void, WordIndex> {
    const order = yield* this.#lexicon.sorted();
    const indexes = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) indexes[order[i] ?? 0] = i;
    yield;
    const dictionary = yield* this.#lexicon.dictionary(order);
    const names = yield* this.#lists(indexes, true);
    const texts = yield* this.#lists(indexes, false);
    return new WordIndex({ dictionary, names, texts, capacity });
  }

  /** The lists of all words in order: of names, as 2 * slot, plus 1 for whole names; or of other texts. */
  *#lists(indexes: Uint32Array, ofNames: boolean): Generator<void, PackedLists> {
    const words = this.#words;
    const starts = new Uint32Array(indexes.length + 1);
    const range = (slot: number): [number, number] => {
      const begin = this.#starts[slot] ?? 0;
      const middle = begin + (this.#names[slot] ?? 0);
      return ofNames ? [begin, middle] : [middle, this.#starts[slot + 1] ?? 0];
    };
    for (let slot = 0; slot < this.#size; slot++) {
      const [from, to] = range(slot);
      for (let i = from; i < to; i++) {
        const next = (indexes[words[i] ?? 0] ?? 0) + 1;
        starts[next] = (starts[next] ?? 0) + 1;
      }
      if (slot % STEP === 0) yield;
    }
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
    yield;
    const ends = starts.slice();
    const numbers = new Uint32Array(starts.at(-1) ?? 0);
    for (let slot = 0; slot < this.#size; slot++) {
      const [from, to] = range(slot);
      for (let i = from; i < to; i++) {
        const index = indexes[words[i] ?? 0] ?? 0;
        const end = ends[index] ?? 0;
        numbers[end] = ofNames ? 2 * slot + Number(i === from) : slot;
        ends[index] = end + 1;
      }
      if (slot % STEP === 0) yield;
    }
    return { starts, numbers };
  }
}

/** Stands for the name of a repository whose name has no word. No text has it. */
const NO_WORD = " ";
/** A name that is one word, which has no parts. */
const ONE_WORD = /^[A-Za-z][a-z0-9]{0,39}$/;
/** Numbers of repositories that are distinguished when words are counted. */
const COUNTED_SIZES = 10_000;
/** Repositories in a step of building. */
const STEP = 20_000;

export class WordIndex {
  readonly #dictionary: Dictionary;
  readonly #names: PackedLists;
  readonly #texts: PackedLists;
  /** Slots whose words are no longer those of the load. */
  readonly #dead: SlotSet;
  /** The words of those and of new ones: by the first two letters, the word, and the slot. */
  readonly #added = new Map<string, Map<string, Map<number, WordPlace>>>();
  readonly #documents = new Map<number, readonly string[]>();
  /** Slots added to sets so far. */
  #found = 0;

  constructor({ dictionary, names, texts, capacity }: Parts) {
    this.#dictionary = dictionary;
    this.#names = names;
    this.#texts = texts;
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
    const [from, to] = isPrefix ? this.#beginningWith(word) : this.#range(word);
    const before = this.#found;
    this.#addNames(set, [from, to], upTo === WHOLE);
    if (upTo === TEXT) this.#addTexts(set, [from, to]);
    for (const slots of this.#addedSlots(word, isPrefix))
      for (const [slot, own] of slots) if (own <= upTo) this.#add(set, slot);
    return this.#found > before;
  }

  #add(set: SlotSet, slot: number): void {
    set.add(slot);
    this.#found++;
  }

  #addNames(set: SlotSet, [from, to]: Range, isWhole: boolean): void {
    const { starts, numbers } = this.#names;
    for (let i = starts[from] ?? 0, end = starts[to] ?? 0; i < end; i++) {
      const number = numbers[i] ?? 0;
      if ((!isWhole || (number & 1) === 1) && !this.#dead.has(number >>> 1)) this.#add(set, number >>> 1);
    }
  }

  #addTexts(set: SlotSet, [from, to]: Range): void {
    const { starts, numbers } = this.#texts;
    for (let i = starts[from] ?? 0, end = starts[to] ?? 0; i < end; i++) {
      const slot = numbers[i] ?? 0;
      if (!this.#dead.has(slot)) this.#add(set, slot);
    }
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

  /** The indexes of the words that begin with a prefix: from the first one to before the second. */
  #beginningWith(prefix: string): Range {
    const bytes = Buffer.from(prefix);
    return [this.#lower(bytes, false), this.#lower(bytes, true)];
  }

  /** The same for one word. */
  #range(word: string): Range {
    const bytes = Buffer.from(word);
    const at = this.#lower(bytes, false);
    const { starts } = this.#dictionary;
    const isFound = at < starts.length - 1 && this.#compare(at, bytes) === 0;
    return [at, isFound ? at + 1 : at];
  }

  /** The index of the first word that is not before some bytes; `isAfter`: of the first after all that begin with them. */
  #lower(bytes: Buffer, isAfter: boolean): number {
    let [low, high] = [0, this.#dictionary.starts.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = isAfter
        ? this.#compare(middle, bytes, bytes.length) <= 0
        : this.#compare(middle, bytes) < 0;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Compares a word, or its first `length` bytes, with some bytes. */
  #compare(index: number, bytes: Buffer, length = Number.MAX_SAFE_INTEGER): number {
    const { bytes: words, starts } = this.#dictionary;
    const from = starts[index] ?? 0;
    const to = Math.min(starts[index + 1] ?? 0, from + length);
    return words.compare(bytes, 0, bytes.length, from, to);
  }

  /** About the `most` most frequent words that at least `least` repositories have in a name or text, in short steps. */
  *frequentWords({ least, most }: { least: number; most: number }): Generator<void, [string, number][]> {
    const { bytes, starts } = this.#dictionary;
    const sizeIn = (lists: PackedLists, i: number) => (lists.starts[i + 1] ?? 0) - (lists.starts[i] ?? 0);
    const sizeOf = (i: number) => sizeIn(this.#names, i) + sizeIn(this.#texts, i);
    const bySize = new Uint32Array(COUNTED_SIZES);
    for (let i = 0; i + 1 < starts.length; i++) {
      const size = Math.min(sizeOf(i), COUNTED_SIZES - 1);
      bySize[size] = (bySize[size] ?? 0) + 1;
      if (i % STEP === 0) yield;
    }
    let from = COUNTED_SIZES;
    for (let words = 0; from > least && words < most; ) words += bySize[--from] ?? 0;
    const found = new Map<string, number>();
    for (let i = 0; i + 1 < starts.length; i++) {
      if (sizeOf(i) >= from) found.set(bytes.toString("utf8", starts[i], starts[i + 1]), sizeOf(i));
      if (i % STEP === 0) yield;
    }
    for (const words of this.#added.values())
      for (const [word, { size }] of words)
        if (found.has(word) || size >= least) found.set(word, (found.get(word) ?? 0) + size);
    return [...found];
  }
}

/** Indexes of words: from the first one to before the second. */
type Range = readonly [from: number, to: number];

interface Parts {
  dictionary: Dictionary;
  names: PackedLists;
  texts: PackedLists;
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
