import { sql } from "kysely";
import type { BulkRow, Dialect, RankCutoffTable, RankTable, Tx } from "../../database/database.js";
import type { ChangedRepositories, Contribution } from "../contributions.js";
import { MEASURES, type Measure } from "../definitions.js";
import {
  hoursOf,
  type Leaderboard,
  leaderboardKey,
  RANK_LIMITS,
  RANKED_TOPICS,
  type RankScope,
  scopesOf,
  storedSize,
  writeLeaderboard,
} from "./leaderboard.js";
import { compareEntries, type Entry, isBefore } from "./top-list.js";

/**
 * Moves changed repositories to the ranks their contributions give them; those without a contribution lose their ranks. The
 * cost follows the number of changes and the length of leaderboards, not the number of repositories. Returns false, having
 * changed nothing, if a leaderboard has lost too many repositories to know who comes next.
 */
export async function updateRanks(
  tx: Tx,
  dialect: Dialect,
  { ids, contributions }: ChangedRepositories,
): Promise<boolean> {
  const topics = await rankedTopics(tx, contributions);
  const changed = new Set(ids);
  const ranked = await tx
    .selectFrom("ranks")
    .select(["ranking", "window_hours", "scope", "scope_name"])
    .distinct()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  const cutoffs = await tx.selectFrom("rank_cutoffs").selectAll().execute();
  const writes: (() => Promise<void>)[] = [];
  for (const [i, measure] of MEASURES.entries()) {
    const isOfMeasure = (row: { ranking: string; window_hours: number }) =>
      row.ranking === measure.ranking && row.window_hours === hoursOf(measure);
    const affected = new AffectedLeaderboards(cutoffs.filter(isOfMeasure));
    for (const row of ranked.filter(isOfMeasure)) affected.get(row.scope as RankScope, row.scope_name);
    for (const contribution of contributions) {
      const value = contribution.values[i];
      if (value === null || value === undefined) continue;
      const entry = { id: contribution.repositoryId, value };
      for (const [scope, name] of scopesOf(contribution, topics)) affected.add(scope, name, entry);
    }
    await readEntries(tx, dialect, measure, affected);
    for (const board of affected) {
      const merged = merge(board, changed);
      if (merged === undefined) return false;
      writes.push(() => writeLeaderboard(tx, dialect, { measure, board: merged, before: board.before }));
    }
  }
  for (const write of writes) await write();
  return true;
}

/** The topics with leaderboards: those that have one since the last rebuild, and new ones up to the maximum. */
async function rankedTopics(tx: Tx, contributions: readonly Contribution[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom("ranks")
    .select("scope_name")
    .distinct()
    .where("ranking", "=", "stars")
    .where("window_hours", "=", 0)
    .where("scope", "=", "topic")
    .execute();
  const topics = new Set(rows.map((row) => row.scope_name));
  for (const topic of contributions.flatMap((contribution) => contribution.topics)) {
    if (topics.size < RANKED_TOPICS) topics.add(topic);
  }
  return topics;
}

/** A leaderboard that may change. */
interface Affected {
  scope: RankScope;
  name: string;
  /** The stored entries. */
  before: Entry[];
  /** The new values of changed repositories. */
  added: Entry[];
  cutoff: Entry | undefined;
}

/** The leaderboards of one measure that may change. */
class AffectedLeaderboards {
  readonly #cutoffs: ReadonlyMap<string, Entry>;
  readonly #boards = new Map<string, Affected>();

  constructor(cutoffs: readonly RankCutoffTable[]) {
    this.#cutoffs = new Map(
      cutoffs.map((row) => [
        leaderboardKey(row.scope, row.scope_name),
        { id: row.repository_id, value: row.value },
      ]),
    );
  }

  get(scope: RankScope, name: string): Affected {
    const key = leaderboardKey(scope, name);
    const board = this.#boards.get(key) ?? {
      scope,
      name,
      before: [],
      added: [],
      cutoff: this.#cutoffs.get(key),
    };
    this.#boards.set(key, board);
    return board;
  }

  /** Adds an entry to a leaderboard, unless it comes after the cutoff. */
  add(scope: RankScope, name: string, entry: Entry): void {
    const cutoff = this.#cutoffs.get(leaderboardKey(scope, name));
    if (cutoff === undefined || isBefore(entry, cutoff)) this.get(scope, name).added.push(entry);
  }

  [Symbol.iterator](): Iterator<Affected> {
    return this.#boards.values();
  }
}

/** Reads the stored entries of the affected leaderboards. */
async function readEntries(
  tx: Tx,
  dialect: Dialect,
  measure: Measure,
  affected: AffectedLeaderboards,
): Promise<void> {
  const names = [...affected].map(({ scope, name }): BulkRow => [scope, name]);
  if (names.length === 0) return;
  const { rows } = await sql<RankTable>`
    select p.scope, p.scope_name, p.position, p.repository_id, p.value
    from (${dialect.rowsOf({ scope: "text", scope_name: "text" }, names)}) as n
    cross join ranks p where p.scope = n.scope and p.scope_name = n.scope_name
      and p.ranking = ${measure.ranking} and p.window_hours = ${hoursOf(measure)}`.execute(tx);
  for (const { scope, scope_name, position, repository_id, value } of rows) {
    affected.get(scope as RankScope, scope_name).before[position - 1] = { id: repository_id, value };
  }
}

/** The leaderboard with the changes; undefined if too few of its entries are left to fill the ranks shown. */
function merge(
  { scope, name, before, added, cutoff }: Affected,
  changed: ReadonlySet<number>,
): Leaderboard | undefined {
  const entries = [...before.filter((entry) => !changed.has(entry.id)), ...added].sort(compareEntries);
  if (cutoff !== undefined && entries.length < RANK_LIMITS[scope]) return undefined;
  if (entries.length <= storedSize(scope)) return { scope, name, entries, cutoff };
  entries.length = storedSize(scope);
  return { scope, name, entries, cutoff: entries.at(-1) };
}
