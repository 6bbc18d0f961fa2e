/**
 * Ranks: the position of repositories in every ranking, overall and per provider, language and topic, and their history by
 * day. Leaderboards are bounded (RANK_LIMITS). `updateRanks` applies changes, `RankRebuild` starts from all repositories;
 * both give the same ranks, and write in short transactions of a run. The caller reads the contributions and calls
 * `archiveRanks` before either.
 */

import type { Database, Db } from "../../database/database.js";
import type { Contribution } from "../../growth/growth.js";
import type { Run } from "../../repositories/repositories.js";
import { decodeBoards, readBoards } from "./codec.js";
import {
  type Competitor,
  compareEntries,
  Entries,
  type Entry,
  forEachScope,
  isBefore,
  type Leaderboard,
  NO_BOARDS,
  RANK_LIMITS,
  RANKED_TOPICS,
  type RankScope,
  type ScopeLeaderboards,
  scopeKey,
  storedSize,
} from "./leaderboard.js";
import { rankText } from "./rank.js";
import { type EncodedScope, encodeScope, type RankRow, writeBoards, writeRankRows } from "./rank-rows.js";
import { type RankChanges, rebuildScopes } from "./rebuild.js";

export {
  type Competitor,
  type Leaderboard,
  RANK_LIMITS,
  RANK_SCOPES,
  type RankScope,
} from "./leaderboard.js";
export { type Leaders, type LeadersRequest, leaderReader, readAllLeaders, readOverall } from "./leaders.js";
export { RANK_COLUMNS, type Rank, type RankValues, rankReader, ranksOf } from "./rank.js";
export {
  archiveRanks,
  checkRankHistory,
  type PastRank,
  packRankHistory,
  rankHistoryReader,
} from "./rank-history.js";
export { RankRebuild } from "./rebuild.js";

/** Scopes whose leaderboards are read at a time. */
const BATCH = 200;

/** A scope in which changed repositories compete, or did before. */
interface AffectedScope {
  scope: RankScope;
  name: string;
  contributions: Contribution[];
}

/**
 * Moves changed repositories to the ranks their contributions give them; those without a contribution lose their ranks.
 * `before`: how they competed until now. The cost follows the number of changes and the length of leaderboards, not the number of
 * repositories; only where a leaderboard has lost more repositories than its reserve, all that compete in its scope are read.
 * Everything is computed before the first write. Returns false, having written nothing, if a leaderboard is damaged.
 */
export async function updateRanks(
  database: Database,
  run: Run,
  changes: RankChanges & { before: readonly Competitor[] },
): Promise<boolean> {
  const { dialect, write } = database;
  const { ids, contributions, before } = changes;
  const scopes = affectedScopes(contributions, before, await rankedTopics(write, contributions));
  const changed = new Set(ids);
  const boards: EncodedScope[] = [];
  const rows: RankRow[] = [];
  const depleted: ScopeLeaderboards[] = [];
  const replace = (next: ScopeLeaderboards, old: readonly Leaderboard[]) => {
    boards.push(encodeScope(next));
    rows.push(...changedRows(next, old));
  };
  for (let start = 0; start < scopes.length; start += BATCH) {
    const part = scopes.slice(start, start + BATCH);
    const stored = await readBoards(
      write,
      dialect,
      part.map(({ scope, name }) => [scope, name]),
    );
    for (const affected of part) {
      const { scope, name } = affected;
      const data = stored.get(scopeKey(scope, name));
      const old = data === undefined ? NO_BOARDS : decodeBoards(data);
      if (old === undefined) return false;
      const next = rerank(affected, old, changed);
      if (next === undefined) depleted.push({ scope, name, boards: old });
      else if (next.some((board, i) => board !== old[i])) replace({ scope, name, boards: next }, old);
    }
  }
  if (depleted.length > 0) {
    const rebuilt = await rebuildScopes(database, run, { ...changes, scopes: depleted });
    for (const { scope, name, boards: old } of depleted)
      replace({ scope, name, boards: rebuilt.get(scopeKey(scope, name)) ?? NO_BOARDS }, old);
  }
  await writeRankRows(run, dialect, rows);
  await writeBoards(run, dialect, boards);
  return true;
}

/** The topics with leaderboards: those that have one since the last rebuild, and new ones up to the maximum. */
async function rankedTopics(db: Db, contributions: readonly Contribution[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("leaderboards")
    .select("scope_name")
    .where("scope", "=", "topic" satisfies RankScope)
    .execute();
  const topics = new Set(rows.map((row) => row.scope_name));
  for (const topic of contributions.flatMap((contribution) => contribution.topics)) {
    if (topics.size < RANKED_TOPICS) topics.add(topic);
  }
  return topics;
}

function affectedScopes(
  contributions: readonly Contribution[],
  before: readonly Competitor[],
  topics: ReadonlySet<string>,
): AffectedScope[] {
  const scopes = new Map<string, AffectedScope>();
  const scopeOf = (scope: RankScope, name: string): AffectedScope => {
    const key = scopeKey(scope, name);
    let found = scopes.get(key);
    if (found === undefined) {
      found = { scope, name, contributions: [] };
      scopes.set(key, found);
    }
    return found;
  };
  for (const competitor of before) forEachScope(competitor, topics, scopeOf);
  for (const contribution of contributions)
    forEachScope(contribution, topics, (scope, name) =>
      scopeOf(scope, name).contributions.push(contribution),
    );
  return [...scopes.values()];
}

/** The leaderboards with the changes; unchanged ones are the same objects. undefined: one has too few entries left. */
function rerank(
  { scope, contributions }: AffectedScope,
  old: readonly Leaderboard[],
  changed: ReadonlySet<number>,
): Leaderboard[] | undefined {
  const next: Leaderboard[] = [];
  for (const [i, board] of old.entries()) {
    const added: Entry[] = [];
    for (const { repositoryId: id, values } of contributions) {
      const value = values[i];
      if (value === null || value === undefined) continue;
      const entry = { id, value };
      if (board.cutoff === undefined || isBefore(entry, board.cutoff)) added.push(entry);
    }
    const merged = merge(scope, board, { added: added.sort(compareEntries), changed });
    if (merged === undefined) return undefined;
    next.push(merged);
  }
  return next;
}

interface Changes {
  /** Best first. */
  added: readonly Entry[];
  /** Repositories whose old entries no longer count. */
  changed: ReadonlySet<number>;
}

/** A leaderboard with changes; the same object if there are none. undefined: too few are left to fill the ranks shown. */
function merge(scope: RankScope, board: Leaderboard, { added, changed }: Changes): Leaderboard | undefined {
  const { entries, cutoff } = board;
  if (added.length === 0 && !entries.hasAny(changed)) return board;
  const numbers = new Float64Array(2 * (entries.length + added.length));
  let [end, next] = [0, 0];
  const add = ({ value, id }: Entry) => {
    numbers[end++] = value;
    numbers[end++] = id;
  };
  for (let i = 0; i < entries.length; i++) {
    const entry = changed.has(entries.id(i)) ? undefined : entries.at(i);
    if (entry === undefined) continue;
    for (let one = added[next]; one !== undefined && isBefore(one, entry); one = added[++next]) add(one);
    add(entry);
  }
  for (const one of added.slice(next)) add(one);
  const length = end / 2;
  if (cutoff !== undefined && length < RANK_LIMITS[scope]) return undefined;
  const isTruncated = length > storedSize(scope);
  const kept = new Entries(numbers.subarray(0, isTruncated ? 2 * storedSize(scope) : end));
  const last = isTruncated ? kept.at(kept.length - 1) : cutoff;
  return kept.isSame(entries) && last?.id === cutoff?.id && last?.value === cutoff?.value
    ? board
    : { entries: kept, cutoff: last };
}

/** The rows of repositories whose rank in a scope has changed. */
function changedRows({ scope, name, boards }: ScopeLeaderboards, old: readonly Leaderboard[]): RankRow[] {
  const shown = RANK_LIMITS[scope];
  const moved = new Map<number, string | null>();
  for (const [i, { entries }] of boards.entries()) {
    const before = old[i]?.entries ?? entries;
    if (before === entries) continue;
    const end = Math.min(shown, Math.max(entries.length, before.length));
    for (let index = 0; index < end; index++) {
      const [was, is] = [before.id(index), entries.id(index)];
      if (was === is) continue;
      if (was !== 0) moved.set(was, null);
      if (is !== 0) moved.set(is, null);
    }
  }
  if (moved.size === 0) return [];
  for (const [i, { entries }] of boards.entries()) {
    const end = Math.min(shown, entries.length);
    for (let index = 0; index < end; index++) {
      const id = entries.id(index);
      const others = moved.get(id);
      if (others === undefined) continue;
      const own = rankText(i, scope, index + 1);
      moved.set(id, others === null ? own : `${others},${own}`);
    }
  }
  return Array.from(moved, ([id, ranks]) => ({ id, scope, name, ranks }));
}
