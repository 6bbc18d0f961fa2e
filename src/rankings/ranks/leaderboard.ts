import { sql } from "kysely";
import type { Db } from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import { MEASURES } from "../definitions.js";
import { Entries, type Entry } from "./top-list.js";

export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

/** Number of ranks shown per leaderboard. A repository further down has no rank in it. */
export const RANK_LIMITS: Readonly<Record<RankScope, number>> = {
  overall: 1_000,
  provider: 1_000,
  language: 200,
  topic: 50,
};
/** A leaderboard stores 25 % more rows than it shows, so that dropouts can be replaced without reading all repositories. */
const RESERVE = 1.25;
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

/** A leaderboard without repositories. */
export const NO_ENTRIES: Leaderboard = { entries: Entries.of([]), cutoff: undefined };

/** Leaderboards without repositories for all measures. */
export const NO_BOARDS: readonly Leaderboard[] = MEASURES.map(() => NO_ENTRIES);

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
