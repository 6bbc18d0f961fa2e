/** Leaderboards: in which scopes a repository competes, how long they are, and their entries, best first. */
import { sql } from "kysely";
import type { Db } from "../../database/database.js";
import type { Contribution } from "../../growth/growth.js";
import { MEASURES } from "../../growth/growth.js";

export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

/** Number of ranks shown per leaderboard. A repository further down has no rank in it. */
export const RANK_LIMITS: Readonly<Record<RankScope, number>> = {
  overall: 1_000,
  provider: 1_000,
  language: 200,
  topic: 50,
};
/**
 * A leaderboard stores 50 % more rows than it shows, so that repositories that leave it can be replaced without
 * reading all of its scope.
 */
const RESERVE = 1.5;
/** Only the most frequent topics have leaderboards. */
export const RANKED_TOPICS = 1_000;

/** The repositories ranked by one measure within one scope. */
export interface Leaderboard {
  /** Best first; the rank of an entry is its index + 1. */
  entries: Entries;
  /** Every repository before this entry is in `entries`; which ones come after it is unknown. undefined: none do. */
  cutoff: Entry | undefined;
}

/** The leaderboards of one scope. */
export interface ScopeLeaderboards {
  scope: RankScope;
  /** Which provider, language or topic; empty overall. */
  name: string;
  /** In the order of MEASURES. */
  boards: readonly Leaderboard[];
}

/** Number of entries that a leaderboard stores. */
export const storedSize = (scope: RankScope): number => Math.ceil(RANK_LIMITS[scope] * RESERVE);

/** Identifies a scope among all of them. */
export const scopeKey = (scope: string, name: string): string => `${scope} ${name}`;

/** The most frequent topics, by name where equally frequent. */
export async function readFrequentTopics(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ topic: string }>`select topic from repository_topics group by topic
    order by count(*) desc, topic limit ${RANKED_TOPICS}`.execute(db);
  return new Set(rows.map((row) => row.topic));
}

/** What decides in which leaderboards a repository competes. */
export type Competitor = Pick<Contribution, "provider" | "language" | "topics">;

/** Visits the scopes in which a repository competes. `topics`: the topics that have leaderboards. */
export function forEachScope(
  { provider, language, topics: own }: Competitor,
  topics: ReadonlySet<string>,
  visit: (scope: RankScope, name: string) => void,
): void {
  visit("overall", "");
  visit("provider", provider);
  if (language !== null) visit("language", language);
  for (const topic of own) if (topics.has(topic)) visit("topic", topic);
}

/** A repository and the value it is ranked by. */
export interface Entry {
  id: number;
  value: number;
}

/** The order of every ranking: the greater value first; of equal values the greater id first, as in lists. */
export function isBefore(a: Entry, b: Entry): boolean {
  return a.value > b.value || (a.value === b.value && a.id > b.id);
}

/** For sorting entries best first. */
export function compareEntries(a: Entry, b: Entry): number {
  return isBefore(a, b) ? -1 : 1;
}

/** Entries, the best first, as numbers: the leaderboards have more than a million of them. */
export class Entries {
  /** The value and the id of each. */
  readonly numbers: Float64Array;
  readonly length: number;

  constructor(numbers: Float64Array) {
    this.numbers = numbers;
    this.length = numbers.length / 2;
  }

  static of(entries: readonly Entry[]): Entries {
    return new Entries(Float64Array.from(entries.flatMap(({ value, id }) => [value, id])));
  }

  /** The id of the repository at an index; 0 beyond the end. */
  id(index: number): number {
    return this.numbers[2 * index + 1] ?? 0;
  }

  /** undefined beyond the ends. */
  at(index: number): Entry | undefined {
    return index < 0 || index >= this.length
      ? undefined
      : { id: this.id(index), value: this.numbers[2 * index] ?? 0 };
  }

  /** Whether a repository of a set is in one of them. */
  hasAny(ids: ReadonlySet<number>): boolean {
    for (let index = 0; index < this.length; index++) if (ids.has(this.id(index))) return true;
    return false;
  }

  /** The first `most` ids. */
  ids(most = this.length): number[] {
    return Array.from({ length: Math.min(most, this.length) }, (_, index) => this.id(index));
  }

  isSame({ numbers }: Entries): boolean {
    if (numbers.length !== this.numbers.length) return false;
    for (let i = 0; i < numbers.length; i++) if (numbers[i] !== this.numbers[i]) return false;
    return true;
  }
}

/** Keeps the best `size` of any number of entries. Each costs constant time on average. */
export class TopList {
  readonly #size: number;
  #entries: Entry[] = [];
  /** Entries that do not come before this one are not among the best. */
  #last: Entry | undefined;
  #isTruncated = false;

  constructor(size: number) {
    this.#size = size;
  }

  offer(value: number, id: number): void {
    const last = this.#last;
    if (last !== undefined && (value < last.value || (value === last.value && id <= last.id))) {
      this.#isTruncated = true;
      return;
    }
    this.#entries.push({ id, value });
    if (this.#entries.length >= 2 * this.#size) this.#cut();
  }

  /** Best first. */
  entries(): readonly Entry[] {
    this.#cut();
    return this.#entries;
  }

  /** Whether entries were left out. */
  get isTruncated(): boolean {
    this.#cut();
    return this.#isTruncated;
  }

  #cut(): void {
    this.#entries.sort(compareEntries);
    if (this.#entries.length < this.#size) return;
    if (this.#entries.length > this.#size) {
      this.#entries.length = this.#size;
      this.#isTruncated = true;
    }
    this.#last = this.#entries.at(-1);
  }
}

/** A leaderboard without repositories. */
const NO_ENTRIES: Leaderboard = { entries: Entries.of([]), cutoff: undefined };

/** Leaderboards without repositories for all measures. */
export const NO_BOARDS: readonly Leaderboard[] = MEASURES.map(() => NO_ENTRIES);
