/**
 * Ranks: the first repositories of every ranking, overall and by provider, language and topic, and the text that past ranks are stored
 * as. Repositories like another one.
 */
import {
  MEASURES,
  type Measure,
  RANKING_DEFINITIONS,
  RANKINGS,
  type Ranking,
  WINDOW_HOURS,
  type Window,
} from "../growth/growth.js";
import { countCodes } from "./evaluate.js";
import type { OrderName, ReadModel } from "./model.js";
import { SlotSet } from "./slots.js";
import { nameWords, stemOf, stemsOf, type Texts } from "./words.js";

/** Number of ranks in each scope. A repository further down has no rank in it. */
export const RANK_LIMITS: Readonly<Record<RankScope, number>> = {
  overall: 1_000,
  provider: 1_000,
  language: 200,
  topic: 50,
};
/** Only the most frequent languages and topics have ranks. */
const RANKED_NAMES = 1_000;

/** The ids of the first repositories of a ranking in one scope, best first. The window does not matter for stars. */
export type Leaders = (ranking: Ranking, window: Window) => readonly number[];

/** The scope whose leaders are wanted, and how many of each ranking. */
export interface LeadersRequest {
  scope: RankScope;
  /** Which provider, language or topic as the catalogue spells it; empty overall. */
  name: string;
  limit: number;
}

/** A provider, language or topic that repositories are ranked in, or all of them. */
interface Board {
  scope: RankScope;
  name: string;
  /** The index of its first slot in those of a measure. */
  start: number;
}

interface Head {
  slots: Uint32Array;
  lengths: Uint16Array;
}

/** The boards of a model, with the first slots of each by measure. */
export class RankHeads {
  readonly #model: ReadModel;
  readonly #boards: Boards;
  /** By measure: the slots of all boards, and how many each has. */
  readonly #heads: readonly Head[];

  private constructor(model: ReadModel, boards: Boards, heads: readonly Head[]) {
    this.#model = model;
    this.#boards = boards;
    this.#heads = heads;
  }

  /** Computes the ranks of all repositories, in short steps. */
  static *compute(model: ReadModel): Generator<void, RankHeads> {
    const { columns } = model;
    const languages = countCodes(columns.listed, columns.named.language, columns.names.language);
    yield;
    const topics = new Uint32Array(model.topics.names.names.length);
    columns.listed.forBlocks((slots, length) => model.topics.count(topics, slots, length));
    yield;
    const boards = new Boards(model, { languages, topics });
    yield;
    const byGrowth = new SlotSet(columns.capacity).copy(columns.listed);
    // As in lists, growth rankings leave out archived repositories and forks.
    byGrowth.andNot(columns.archived).andNot(columns.fork);
    const heads: Head[] = [];
    for (const measure of MEASURES) {
      const order = model.order(orderOf(measure));
      const competing = measure.window === null ? columns.listed : byGrowth;
      const sorted = yield* model.sortSteps(orderOf(measure));
      const slots = new Uint32Array(boards.size);
      const lengths = new Uint16Array(boards.all.length);
      for (let i = 0; i < sorted.length; i++) {
        const slot = sorted[i] ?? 0;
        // Only gains above 0 are ranked, and known stars.
        if ((order.numbers[slot] ?? 0) <= 0) break;
        if (competing.has(slot))
          boards.forEach(slot, (board) => {
            const length = lengths[board] ?? 0;
            const { scope, start } = boards.all[board] as Board;
            if (length === RANK_LIMITS[scope]) return;
            slots[start + length] = slot;
            lengths[board] = length + 1;
          });
        if (i % STEP === 0) yield;
      }
      heads.push({ slots, lengths });
      yield;
    }
    return new RankHeads(model, boards, heads);
  }

  /** The ranks of a repository, ordered by ranking, window, scope and name. */
  of(id: number): Rank[] {
    const slot = this.#model.slotOf(id);
    if (slot < 0) return [];
    const boards: number[] = [];
    this.#boards.forEach(slot, (board) => boards.push(board));
    const own = boards.flatMap((board) => this.#boards.all[board] ?? []);
    const inOrder = own
      .map(({ scope, name, start }, i) => ({ scope, name, start, board: boards[i] ?? 0 }))
      .sort((a, b) => (a.scope === b.scope ? (a.name < b.name ? -1 : 1) : a.scope < b.scope ? -1 : 1));
    return ORDERED.flatMap(({ ranking, window, index }) =>
      inOrder.flatMap(({ scope, name, start, board }): Rank[] => {
        const { slots, lengths } = this.#heads[index] ?? NO_HEAD;
        const at = slots.subarray(start, start + (lengths[board] ?? 0)).indexOf(slot);
        return at < 0 ? [] : [{ ranking, window, scope, name: name === "" ? null : name, position: at + 1 }];
      }),
    );
  }

  leaders({ scope, name, limit }: LeadersRequest): Leaders {
    const board = this.#boards.all.findIndex((one) => one.scope === scope && one.name === name);
    const { start = 0 } = this.#boards.all[board] ?? {};
    const { id } = this.#model.columns;
    return (ranking, window) => {
      const index = MEASURES.findIndex(
        (measure) => measure.ranking === ranking && (measure.window === null || measure.window === window),
      );
      const { slots, lengths } = this.#heads[index] ?? NO_HEAD;
      const count = Math.min(limit, lengths[board] ?? 0);
      return Array.from(slots.subarray(start, start + count), (slot) => id[slot] ?? 0);
    };
  }
}

const NO_HEAD: Head = { slots: new Uint32Array(0), lengths: new Uint16Array(0) };
/** Slots in a step. */
const STEP = 20_000;

/** The measures in the order of ranks: by the name of the ranking, and the length of the window. */
const ORDERED = MEASURES.map((measure, index) => ({ ...measure, index })).sort((a, b) =>
  a.ranking === b.ranking ? a.index - b.index : a.ranking < b.ranking ? -1 : 1,
);

function orderOf({ ranking, window }: Measure): OrderName {
  return ranking === "stars" || window === null ? { column: "stars" } : { growth: ranking, window };
}

/** All boards, and in which of them a repository competes. */
class Boards {
  readonly all: Board[] = [];
  /** Room for the slots of all boards. */
  size = 0;
  readonly #model: ReadModel;
  /** By code: the index of a board; -1: none. */
  readonly #providers: Int32Array;
  readonly #languages: Int32Array;
  readonly #topics: Int32Array;

  /** `languages` and `topics`: how many listed repositories have each, by code. */
  constructor(model: ReadModel, { languages, topics }: { languages: Uint32Array; topics: Uint32Array }) {
    this.#model = model;
    const { names } = model.columns;
    this.#add("overall", "");
    this.#providers = Int32Array.from(names.provider.names, (name) => this.#add("provider", name));
    this.#languages = this.#addFrequent("language", names.language.names, languages);
    this.#topics = this.#addFrequent("topic", model.topics.names.names, topics);
  }

  /** The boards of the most frequent names, by name if equally frequent. */
  #addFrequent(scope: RankScope, names: readonly string[], counts: Uint32Array): Int32Array {
    counts[0] = 0;
    const least = Math.max(1, counts.toSorted().at(-RANKED_NAMES) ?? 0);
    const frequent = Array.from(counts.keys()).filter((code) => (counts[code] ?? 0) >= least);
    frequent.sort(
      (a, b) => (counts[b] ?? 0) - (counts[a] ?? 0) || ((names[a] ?? "") < (names[b] ?? "") ? -1 : 1),
    );
    const boards = new Int32Array(names.length).fill(-1);
    for (const code of frequent.slice(0, RANKED_NAMES)) boards[code] = this.#add(scope, names[code] ?? "");
    return boards;
  }

  #add(scope: RankScope, name: string): number {
    this.size += RANK_LIMITS[scope];
    return this.all.push({ scope, name, start: this.size - RANK_LIMITS[scope] }) - 1;
  }

  /** Calls `visit` with each board in which a repository competes. */
  forEach(slot: number, visit: (board: number) => void): void {
    const { provider, language } = this.#model.columns.named;
    visit(0);
    const ofProvider = this.#providers[provider[slot] ?? 0] ?? -1;
    if (ofProvider >= 0) visit(ofProvider);
    const ofLanguage = this.#languages[language[slot] ?? 0] ?? -1;
    if (ofLanguage >= 0) visit(ofLanguage);
    this.#model.topics.forEach(slot, (topic) => {
      const board = this.#topics[topic] ?? -1;
      if (board >= 0) visit(board);
    });
  }
}

/** The repositories that a repository is ranked among. */
export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

/** A repository's position in one ranking. */
export interface Rank {
  ranking: Ranking;
  /** null for the ranking by stars. */
  window: Window | null;
  scope: RankScope;
  /** Which provider, language or topic; null overall. */
  name: string | null;
  /** From 1. */
  position: number;
}

/**
 * A rank in the text that ranks are stored as, such as `t24o12,s0l3`: the code of its ranking, its hours, the first letter of
 * its scope, and its position.
 */
export interface CodedRank {
  code: string;
  /** 0 for the ranking by stars. */
  hours: number;
  letter: string;
  position: number;
}

/** The letter and the hours of a measure. */
export function codeOf({ ranking, window }: Measure): { letter: string; hours: number } {
  return { letter: RANKING_DEFINITIONS[ranking].code, hours: window === null ? 0 : WINDOW_HOURS[window] };
}

/** The codes of MEASURES, such as `t24`. */
const MEASURE_CODES: readonly string[] = MEASURES.map((measure) => {
  const { letter, hours } = codeOf(measure);
  return `${letter}${hours}`;
});

/** A rank as text. `measure`: an index of MEASURES. */
export function rankText(measure: number, scope: RankScope, position: number): string {
  return `${MEASURE_CODES[measure]}${scope.charAt(0)}${position}`;
}

export function codedRanks(text: string): CodedRank[] {
  return Array.from(
    text.matchAll(/([a-z])(\d+)([a-z])(\d+)/g),
    ([, code = "", hours, letter = "", position]) => ({
      code,
      hours: Number(hours),
      letter,
      position: Number(position),
    }),
  );
}

/** The rankings that exist, by their codes. */
export const RANKING_OF_CODE: ReadonlyMap<string, Ranking> = new Map(
  RANKINGS.map((ranking) => [RANKING_DEFINITIONS[ranking].code, ranking]),
);

/** The scopes by their letters. */
export const SCOPE_OF_LETTER: ReadonlyMap<string, RankScope> = new Map(
  RANK_SCOPES.map((scope) => [scope.charAt(0), scope]),
);

/** A word or topic that more repositories have says little about any of them; the number also limits the cost. */
const MOST_WITH = { share: 0.2, atLeast: 50, atMost: 5_000 };
/** The worth of a word of the own name: others have it because they are made for this one, rather than like it. */
const OWN_NAME = 0.3;
const SAME_LANGUAGE = 1.5;
/** The part of its score that one loses for each order of magnitude more or fewer stars, and what it keeps at least. */
const PER_MAGNITUDE = 0.2;
const LEAST_SIZE = 0.2;
/** Words that a long description has more of than others. */
const USUAL_WORDS = 8;
/** A repository fits that shares at least this many words, worth half of one that no other has, and has this part of the best score. */
const LEAST_SHARED = 2;
const LEAST_WORTH = 0.5;
const LEAST_SCORE = 0.4;

/** The weight of a word that `count` of `all` repositories have: the rarer, the higher. */
const rarityOf = (count: number, all: number): number => Math.log((all + 1) / (count + 0.5)) ** 1.5;

/**
 * The ids of the repositories most like one: those that share topics with it, and words of names, descriptions and topics, rare
 * ones counting more, in any form. The same language helps, and size decides between those that fit alike. None if nothing fits.
 * Costs at most 114 lists of 5,000 slots, and two passes over numbers.
 */
export function similarTo(model: ReadModel, repository: Texts & { id: number }, most: number): number[] {
  const own = model.slotOf(repository.id);
  if (own < 0) return [];
  const { columns, topics, words } = model;
  const { size, listed, archived, fork, plain, named, id } = columns;
  const mostWith = Math.min(MOST_WITH.atMost, Math.max(MOST_WITH.atLeast, MOST_WITH.share * size));
  const scores = new Float64Array(size);
  const shared = new Uint8Array(size);
  const last = new Uint8Array(size);
  let number = 0;
  const add = (slots: readonly number[], worth: number) => {
    if (slots.length > mostWith) return;
    const rarity = rarityOf(slots.length, size);
    number++;
    for (const slot of slots) {
      if (last[slot] === number) continue;
      last[slot] = number;
      scores[slot] = (scores[slot] ?? 0) + worth * rarity;
      shared[slot] = (shared[slot] ?? 0) + 1;
    }
  };
  const ownNames = new Set(nameWords(repository.name).map(stemOf));
  for (const stem of stemsOf(repository))
    add(words.withStem(stem, mostWith), ownNames.has(stem) ? OWN_NAME : 1);
  topics.forEach(own, (topic) => {
    if (topics.sizeOf(topic) > mostWith) return;
    const slots: number[] = [];
    topics.forEachWith(topic, (slot) => slots.push(slot));
    add(slots, 1);
  });
  const magnitude = (slot: number) => Math.log10(1 + (plain.stars[slot] ?? 0));
  const leastWorth = LEAST_WORTH * rarityOf(0, size);
  const found: { slot: number; score: number }[] = [];
  for (let slot = 0; slot < size; slot++) {
    if ((shared[slot] ?? 0) < LEAST_SHARED || (scores[slot] ?? 0) < leastWorth || slot === own) continue;
    if (!listed.has(slot) || archived.has(slot) || fork.has(slot)) continue;
    const hasLanguage = named.language[own] !== 0 && named.language[slot] === named.language[own];
    const distance = Math.abs(magnitude(slot) - magnitude(own));
    const score =
      ((scores[slot] ?? 0) / Math.sqrt(USUAL_WORDS + words.lengthOf(slot))) *
      (hasLanguage ? SAME_LANGUAGE : 1) *
      Math.max(LEAST_SIZE, 1 - PER_MAGNITUDE * distance);
    found.push({ slot, score });
  }
  found.sort((a, b) => b.score - a.score || a.slot - b.slot);
  const least = (found[0]?.score ?? 0) * LEAST_SCORE;
  return found.slice(0, most).flatMap(({ slot, score }) => (score < least ? [] : (id[slot] ?? [])));
}
