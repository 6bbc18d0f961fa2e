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

/** Topics that more repositories have say little about any of them; the bound also limits the cost, to about 5 ms. */
const MOST_WITH_TOPIC = 5_000;
const MOST_TOPICS = 20;
/** The value of the same language; a topic of n repositories has the value 1 ÷ log2(2 + n). */
const SAME_LANGUAGE = 0.1;
/** The cost of one order of magnitude more or fewer stars. */
const PER_MAGNITUDE = 0.05;

/**
 * The ids of the repositories most like one: those that share its topics, rare ones counting more, then its language, then its
 * size. Only those that share a topic, or without any its language. Costs one pass over the catalogue at most.
 */
export function similarTo(model: ReadModel, id: number, most: number): number[] {
  const own = model.slotOf(id);
  if (own < 0) return [];
  const { columns, topics } = model;
  const { listed, plain, named } = columns;
  const language = named.language[own] ?? 0;
  const shared = new Map<number, number>();
  let topicsLeft = MOST_TOPICS;
  topics.forEach(own, (topic) => {
    const count = topics.sizeOf(topic);
    if (count > MOST_WITH_TOPIC || topicsLeft-- <= 0) return;
    const worth = 1 / Math.log2(2 + count);
    topics.forEachWith(topic, (slot) => shared.set(slot, (shared.get(slot) ?? 0) + worth));
  });
  shared.delete(own);
  const size = (slot: number) => Math.log10(1 + (plain.stars[slot] ?? 0));
  const ownSize = size(own);
  /** The stars within which one that shares only the language can still be among the best, with a margin of one for rounding. */
  let [least, greatest] = [0, Number.POSITIVE_INFINITY];
  /** The best so far, best first: a language may have most of the catalogue, so not all are sorted. */
  const best: { slot: number; score: number }[] = [];
  const offer = (slot: number, worth: number) => {
    if (!listed.has(slot) || columns.archived.has(slot) || columns.fork.has(slot)) return;
    const sameLanguage = language > 0 && named.language[slot] === language ? SAME_LANGUAGE : 0;
    const score = worth + sameLanguage - PER_MAGNITUDE * Math.abs(size(slot) - ownSize);
    const at = best.findIndex((one) => score > one.score || (score === one.score && slot < one.slot));
    if (at < 0 && best.length === most) return;
    best.splice(at < 0 ? best.length : at, 0, { slot, score });
    best.length = Math.min(best.length, most);
    if (best.length < most) return;
    const magnitudes = (SAME_LANGUAGE - (best.at(-1)?.score ?? 0)) / PER_MAGNITUDE;
    [least, greatest] = [10 ** (ownSize - magnitudes) - 2, 10 ** (ownSize + magnitudes)];
  };
  for (const [slot, worth] of shared) offer(slot, worth);
  if (shared.size < most && language > 0)
    for (let slot = 0; slot < columns.size; slot++) {
      if (named.language[slot] !== language) continue;
      const stars = plain.stars[slot] ?? 0;
      if (stars >= least && stars <= greatest && slot !== own && !shared.has(slot)) offer(slot, 0);
    }
  return best.map(({ slot }) => columns.id[slot] ?? 0);
}
