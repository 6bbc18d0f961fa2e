import { sql } from "kysely";
import type { BulkRow, BulkTable, Db, Dialect, Tx } from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import type { Measure } from "../definitions.js";
import { WINDOW_HOURS } from "../windows.js";
import type { Entry } from "./top-list.js";

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
  scope: RankScope;
  /** Which provider, language or topic; empty overall. */
  name: string;
  /** Best first; the rank of an entry is its index + 1. */
  entries: readonly Entry[];
  /** Every repository before this entry is in `entries`; which ones come after it is unknown. undefined: none do. */
  cutoff: Entry | undefined;
}

/** Number of entries that a leaderboard stores. */
export const storedSize = (scope: RankScope): number => Math.ceil(RANK_LIMITS[scope] * RESERVE);

/** Identifies a leaderboard among those of one measure. */
export const leaderboardKey = (scope: string, name: string): string => `${scope} ${name}`;

/** `window_hours` of a measure's rows; 0 for a measure without a window. */
export const hoursOf = ({ window }: Measure): number => (window === null ? 0 : WINDOW_HOURS[window]);

/** The most frequent topics, by name where equally frequent. */
export async function readFrequentTopics(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ topic: string }>`select topic from repository_topics group by topic
    order by count(*) desc, topic limit ${RANKED_TOPICS}`.execute(db);
  return new Set(rows.map((row) => row.topic));
}

/** The leaderboards in which a repository competes. `topics`: the topics that have leaderboards. */
export function scopesOf(contribution: Contribution, topics: ReadonlySet<string>): [RankScope, string][] {
  const scopes: [RankScope, string][] = [
    ["overall", ""],
    ["provider", contribution.provider],
  ];
  if (contribution.language !== null) scopes.push(["language", contribution.language]);
  for (const topic of contribution.topics) if (topics.has(topic)) scopes.push(["topic", topic]);
  return scopes;
}

const RANKS: BulkTable = {
  table: "ranks",
  columns: {
    ranking: "text",
    window_hours: "bigint",
    scope: "text",
    scope_name: "text",
    position: "bigint",
    repository_id: "bigint",
    value: "bigint",
  },
  key: ["ranking", "window_hours", "scope", "scope_name", "position"],
};

/** Writes the rows of a leaderboard that differ from those stored before. */
export async function writeLeaderboard(
  tx: Tx,
  dialect: Dialect,
  { measure, board, before }: { measure: Measure; board: Leaderboard; before: readonly Entry[] },
): Promise<void> {
  const { scope, name, entries, cutoff } = board;
  const key = [measure.ranking, hoursOf(measure), scope, name] as const;
  const rows = entries.flatMap((entry, i): BulkRow[] => {
    const isSame = before[i]?.id === entry.id && before[i]?.value === entry.value;
    return isSame ? [] : [[...key, i + 1, entry.id, entry.value]];
  });
  if (rows.length > 0) await dialect.upsert(tx, RANKS, rows);
  const [ranking, hours] = key;
  if (before.length > entries.length) {
    await sql`delete from ranks where ranking = ${ranking} and window_hours = ${hours} and scope = ${scope}
      and scope_name = ${name} and position > ${entries.length}`.execute(tx);
  }
  if (cutoff === undefined) return;
  await sql`insert into rank_cutoffs (ranking, window_hours, scope, scope_name, value, repository_id)
    values (${ranking}, ${hours}, ${scope}, ${name}, ${cutoff.value}, ${cutoff.id})
    on conflict (ranking, window_hours, scope, scope_name)
    do update set value = excluded.value, repository_id = excluded.repository_id`.execute(tx);
}
