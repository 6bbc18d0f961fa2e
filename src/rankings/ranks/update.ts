import type { Run } from "../../catalog/catalog.js";
import type { Database, Db } from "../../database/database.js";
import { DamagedPack } from "../../packed-numbers.js";
import type { ChangedRepositories, Contribution } from "../contributions.js";
import { decodeBoards, readBoards } from "./codec.js";
import {
  type Competitor,
  forEachScope,
  type Leaderboard,
  NO_BOARDS,
  RANK_LIMITS,
  RANKED_TOPICS,
  type RankScope,
  type ScopeLeaderboards,
  scopeKey,
  storedSize,
} from "./leaderboard.js";
import { type RankRow, shownRanks, writeBoards, writeRankRows } from "./rank-rows.js";
import { compareEntries, type Entry, isBefore } from "./top-list.js";

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
 * `before`: how they competed until now. The cost follows the number of changes and the length of leaderboards, not the number
 * of repositories. Everything is computed before the first write. Returns false, having written nothing, if a leaderboard is
 * damaged, or has lost too many repositories to know who comes next.
 */
export async function updateRanks(
  { dialect, write }: Database,
  run: Run,
  { ids, contributions, before }: ChangedRepositories & { before: readonly Competitor[] },
): Promise<boolean> {
  const scopes = affectedScopes(contributions, before, await rankedTopics(write, contributions));
  const changed = new Set(ids);
  const boards: ScopeLeaderboards[] = [];
  const rows: RankRow[] = [];
  for (let start = 0; start < scopes.length; start += BATCH) {
    const part = scopes.slice(start, start + BATCH);
    const stored = await readBoards(
      write,
      dialect,
      part.map(({ scope, name }) => [scope, name]),
    );
    for (const affected of part) {
      const { scope, name } = affected;
      const old = decoded(stored.get(scopeKey(scope, name)));
      if (old === undefined) return false;
      const next = rerank(affected, old, changed);
      if (next === undefined) return false;
      if (next.every((board, i) => board === old[i])) continue;
      boards.push({ scope, name, boards: next });
      rows.push(...changedRows({ scope, name, boards: next }, old));
    }
  }
  await writeRankRows(run, dialect, rows);
  await writeBoards(run, dialect, boards);
  return true;
}

/** Stored leaderboards, none if there are none; undefined if they are damaged. */
function decoded(data: Uint8Array | undefined): readonly Leaderboard[] | undefined {
  if (data === undefined) return NO_BOARDS;
  try {
    return decodeBoards(data);
  } catch (error) {
    if (error instanceof DamagedPack) return undefined;
    throw error;
  }
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

/** The leaderboards with the changes; those that stay as they are are the same objects. undefined: one is unknown. */
function rerank(
  { scope, contributions }: AffectedScope,
  old: readonly Leaderboard[],
  changed: ReadonlySet<number>,
): Leaderboard[] | undefined {
  const next: Leaderboard[] = [];
  for (const [i, board] of old.entries()) {
    const { entries, cutoff } = board;
    const added: Entry[] = [];
    for (const { repositoryId: id, values } of contributions) {
      const value = values[i];
      if (value === null || value === undefined) continue;
      const entry = { id, value };
      if (cutoff === undefined || isBefore(entry, cutoff)) added.push(entry);
    }
    const kept = entries.filter(({ id }) => !changed.has(id));
    if (added.length === 0 && kept.length === entries.length) {
      next.push(board);
      continue;
    }
    const merged = truncated(scope, [...kept, ...added].sort(compareEntries), cutoff);
    if (merged === undefined) return undefined;
    next.push(isSame(merged, board) ? board : merged);
  }
  return next;
}

/** The leaderboard of sorted entries; undefined if too few are left to fill the ranks shown. */
function truncated(scope: RankScope, entries: Entry[], cutoff: Entry | undefined): Leaderboard | undefined {
  if (cutoff !== undefined && entries.length < RANK_LIMITS[scope]) return undefined;
  if (entries.length <= storedSize(scope)) return { entries, cutoff };
  entries.length = storedSize(scope);
  return { entries, cutoff: entries.at(-1) };
}

function isSame(a: Leaderboard, b: Leaderboard): boolean {
  return (
    a.entries.length === b.entries.length &&
    isSameEntry(a.cutoff, b.cutoff) &&
    a.entries.every((entry, i) => isSameEntry(entry, b.entries[i]))
  );
}

function isSameEntry(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.id === b?.id && a?.value === b?.value;
}

/** The rows of repositories whose rank in a scope has changed. */
function changedRows({ scope, name, boards }: ScopeLeaderboards, old: readonly Leaderboard[]): RankRow[] {
  const [before, after] = [shownRanks(scope, old), shownRanks(scope, boards)];
  const rows: RankRow[] = [];
  for (const [id, ranks] of after) if (before.get(id) !== ranks) rows.push({ id, scope, name, ranks });
  for (const id of before.keys()) if (!after.has(id)) rows.push({ id, scope, name, ranks: null });
  return rows;
}

/** The leaderboards of all repositories, in the order of MEASURES; none if they are damaged. */
export async function readOverall({ dialect, write }: Database): Promise<readonly Leaderboard[]> {
  const [data] = (await readBoards(write, dialect, [["overall", ""]])).values();
  return decoded(data) ?? NO_BOARDS;
}
